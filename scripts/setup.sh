#!/bin/sh
# Make .venv with the locked dependencies, and see to the system libraries that the simulator draws with.
# Needs nothing but a shell and Python 3.11 or newer. Run it again at any time: what is there is kept.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }

# Install Debian packages as root, or say plainly which line does it.
need_packages() {
  why=$1
  shift
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    say "Installing $* ($why) ..."
    apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
  elif command -v apt-get >/dev/null; then
    say "Missing: $* ($why). I may not install it; run this line, then try again:"
    say "  sudo apt-get update && sudo apt-get install -y $*"
    return 1
  else
    say "Missing: $why. Install what your system calls $* (Debian's names), then try again."
    return 1
  fi
}

find_python() {
  for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    if command -v "$name" >/dev/null && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  say "worldodds needs Python 3.11 or newer, and none was found. Install one, or name it: make PYTHON=/path/to/python3.11"
  exit 1
}

python=$(find_python)
if [ ! -x .venv/bin/python ] || ! .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  "$python" -c 'import venv, ensurepip' 2>/dev/null || need_packages "Python's venv" "python$version-venv"
  say "Making .venv with Python $version ..."
  "$python" -m venv --clear .venv
fi
[ -x .venv/bin/uv ] || .venv/bin/python -m pip install -q --disable-pip-version-check "uv>=0.8"

stamp=.venv/.locked
if [ ! -f $stamp ] || ! cmp -s requirements.lock $stamp; then
  say "Installing the locked dependencies ..."
  # compiled now, as pip does: where PYTHONDONTWRITEBYTECODE is set, as in many containers, it never would be again
  .venv/bin/uv pip install -q --compile-bytecode --python .venv/bin/python --require-hashes -r requirements.lock
  .venv/bin/uv pip install -q --python .venv/bin/python --no-deps -e .
  cp requirements.lock $stamp
fi

# The three-dimensional worlds are drawn by OpenGL in software: OSMesa, or EGL where that is there already.
if [ "$(uname)" = Linux ] && ! .venv/bin/python -c '
import ctypes.util, sys
sys.exit(not (ctypes.util.find_library("OSMesa") or ctypes.util.find_library("EGL")))'; then
  need_packages "OpenGL in software, to draw the simulated worlds" libosmesa6
fi
