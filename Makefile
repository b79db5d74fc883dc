# make demo | make test | make check | make test-diffusers | make test-inspect; each sets everything up first.
# PYTHON=/path/to/python3.11 picks the interpreter.
BIN := .venv/bin

.PHONY: demo test test-diffusers test-inspect check setup lock format clean

demo: setup
	$(BIN)/worldodds demo

test: setup
	$(BIN)/pytest -n auto

# The pipelines that run on this machine, on tiny random weights: an environment of its own, for torch is large.
test-diffusers: .venv-diffusers/.installed
	.venv-diffusers/bin/pytest tests_diffusers

.venv-diffusers/.installed: requirements-diffusers.txt requirements.lock pyproject.toml
	$(or $(PYTHON),python3) -m venv --clear .venv-diffusers
	sed -n 's/^\([A-Za-z0-9].*[^ ]\) *\\$$/\1/p' requirements.lock >.venv-diffusers/constraints.txt
	.venv-diffusers/bin/python -m pip install -q --disable-pip-version-check -c .venv-diffusers/constraints.txt \
	  -r requirements-diffusers.txt -e '.[run]'
	touch $@

# What only the real inspect_ai can show: that it reads our logs and scores with our readers.
test-inspect: .venv-inspect/.installed
	.venv-inspect/bin/pytest tests/interop/test_inspect_log.py tests/interop/test_inspect_ai.py

.venv-inspect/.installed: requirements.lock pyproject.toml
	$(or $(PYTHON),python3) -m venv --clear .venv-inspect
	.venv-inspect/bin/python -m pip install -q --disable-pip-version-check -e '.[run,inspect]' pytest hypothesis pytest-randomly
	touch $@

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright

setup:
	@scripts/setup.sh

lock: setup
	$(BIN)/uv pip compile -q --universal --generate-hashes --extra run --extra tables --group dev pyproject.toml -o requirements.lock

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .venv-diffusers .venv-inspect .pytest_cache .ruff_cache .hypothesis
