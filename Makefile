# make demo | make test | make check; each sets everything up first. PYTHON=/path/to/python3.11 picks the interpreter.
BIN := .venv/bin

.PHONY: demo test check setup lock format clean

demo: setup
	$(BIN)/worldodds demo

test: setup
	$(BIN)/pytest -n auto

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright

setup:
	@scripts/setup.sh

lock: setup
	$(BIN)/uv pip compile -q --universal --generate-hashes --all-extras --group dev pyproject.toml -o requirements.lock

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
