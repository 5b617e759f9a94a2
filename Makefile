# The manual of development. Everything runs in .venv, made on first use; only Python is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
HOSTS := .adapters

.PHONY: help demo test check lint types layers verify adapters conformance load format clean

help:            ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

demo: $(STAMP)   ## index the bilingual sample workspace and ask it questions
	@$(BIN)/mnemark demo

test: $(STAMP)   ## run the tests
	@$(BIN)/python -m pytest -q -m "not slow and not timed" -n auto
	@$(BIN)/python -m pytest -q -m "not slow and timed"

lint: $(STAMP)   ## style and likely mistakes
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP)  ## strict types, tests included
	@$(BIN)/mypy

layers: $(STAMP) ## imports point one way
	@$(BIN)/lint-imports

check: lint types layers test  ## all of the above

verify: $(STAMP) ## long simulations and fault sweeps (an hour or so)
	@$(BIN)/python -m pytest -q -m slow

$(HOSTS)/.installed: pyproject.toml
	@test -x $(HOSTS)/bin/python || $(PYTHON) -m venv $(HOSTS)
	@$(HOSTS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(HOSTS)/bin/python -m pip install --quiet --disable-pip-version-check --editable . --group adapters
	@touch $@

adapters: $(HOSTS)/.installed ## run the adapters in their real hosts (nanobot and frameworks; fetched into .adapters)
	@$(HOSTS)/bin/python -m pytest -q -p no:cacheprovider tests/adapters

conformance: $(STAMP) ## the MCP suite, the Inspector and the official clients (npm; fetches into .conformance)
	@$(BIN)/python tools/conformance.py all

load: $(STAMP)   ## eight agents at once on one daemon for ten minutes
	@$(BIN)/python tools/load.py --minutes 10

format: $(STAMP) ## rewrite the code in the project's style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:           ## remove what was made
	rm -rf $(VENV) $(HOSTS) .mypy_cache .ruff_cache .pytest_cache .hypothesis
