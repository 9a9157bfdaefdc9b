# make demo: port examples/c/heat2d.c.   make test: lint, types, layers, tests.   Both set up .venv first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "cudaperf-agent needs Python 3.11 or newer: make PYTHON=python3.12"; exit 3; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@mkdir -p .types && ln -sfn .. .types/cudaperf_agent
	@touch $@

demo: setup
	$(BIN)/cudaperf-agent translate examples/c/heat2d.c -o out/heat2d
	@echo && sed -n '1,30p' out/heat2d/report.md

test: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest

clean:
	rm -rf .venv .types out build *.egg-info
