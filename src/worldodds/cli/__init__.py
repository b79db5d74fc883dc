"""The command line: parse, call one public function, print.

Exit codes: 0 fine, 1 a bug of ours, 2 bad input, 3 something is still open, 130 stopped by the user, 143 by SIGTERM.
"""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import sys
from typing import NoReturn

from cyclopts import App, CycloptsError, UnusedCliTokensError

from worldodds._version import __version__
from worldodds.cli import (
    auditing,
    deciding,
    doctoring,
    examining,
    importing,
    judging,
    labelling,
    planning,
    running,
    scene_kit,
    scoring,
    showing,
    standing,
    tracks,
    worlds,
)
from worldodds.errors import WorldOddsError

BAD_INPUT, OPEN, INTERRUPTED, TERMINATED = 2, 3, 130, 143

app = App(
    name="worldodds",
    help="Tell whether a video world model gets the odds of the world right.",
    version=__version__,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
for command in (
    running.demo,
    running.run,
    running.read,
    standing.status,
    labelling.label,
    labelling.label_export,
    labelling.label_import,
    scoring.score,
    scoring.report,
    scoring.export,
    planning.plan,
    deciding.compare,
    deciding.monitor,
    auditing.audit,
    judging.votes,
    judging.trust,
    judging.drift,
    tracks.crosscheck,
    examining.exam,
    doctoring.doctor,
    showing.suites,
    showing.scenes,
):
    app.command(command)
app.command(worlds.app)
app.command(scene_kit.app)
app.command(importing.app)
app.command(tracks.pawbench)


_words: list[str] = []


def said() -> list[str]:
    """Return the words of the command that is running."""
    return list(_words)


class _TerminatedError(KeyboardInterrupt):
    """The process was told to end; whatever heeds Ctrl-C heeds this."""


def _terminate(*_: object) -> NoReturn:
    raise _TerminatedError


def main(words: list[str] | None = None) -> None:
    """Run a command and leave with its exit code; an error that is not ours shows its trace and leaves with 1."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # as job schedulers end what has used up its time
        signal.signal(signal.SIGTERM, _terminate)
    sys.exit(call(words))


def call(words: list[str] | None = None) -> int:  # noqa: PLR0911 - one exit code a kind of error
    """Run a command and return its exit code."""
    _words[:] = sys.argv[1:] if words is None else words
    try:
        code = app(words, exit_on_error=False, print_error=False) or 0
        sys.stdout.flush()
    except UnusedCliTokensError as error:
        command, words_left = " ".join(error.command_chain or ()), " ".join(error.unused_tokens or ())
        return _complain(
            f"{command} does not take {words_left!r}; worldodds {command} --help tells what it takes", BAD_INPUT
        )
    except CycloptsError as error:
        return _complain(" ".join(str(error).split()), BAD_INPUT)
    except WorldOddsError as error:
        return _complain(str(error), BAD_INPUT)
    except KeyboardInterrupt as error:
        code = TERMINATED if isinstance(error, _TerminatedError) else INTERRUPTED
        return _complain("stopped; nothing is lost, the same command goes on from here", code)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{error.strerror or error}{_next_step(error)}", BAD_INPUT)
    except sqlite3.DatabaseError as error:
        return _complain(f"the ledger cannot be written: {error}; nothing is lost, mend that and run again", BAD_INPUT)
    return code


def _next_step(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "; free some space and run the same command again, it goes on where it stopped"
    return ""


def _complain(message: str, code: int) -> int:
    print(f"worldodds: {message}", file=sys.stderr)
    return code
