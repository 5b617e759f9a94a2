# The manual of development. Everything runs in .venv, made on first use; only Python is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LOCKING := .lock
PAGES := .site
# The first tier: what is pure, and of search, facts, erasing and hooks the plainest.
QUICK := tests/text tests/test_structure.py tests/interfaces/test_find.py tests/memory/test_facts.py \
  tests/memory/test_erase.py::test_one_of_each_kind_and_more_is_gone_to_the_byte \
  tests/agent/test_hook.py::test_a_session_begins_with_a_briefing \
  tests/agent/test_hook.py::test_a_prompt_is_answered_with_what_is_known
# Files with tests that measure time; no other is read for them. What others disturbed is measured again alone.
TIMED = $(sort $(shell grep -rl --include=test_*.py "mark\.timed" tests))
LINEAR := tests/test_linear.py tests/text/test_linear.py tests/test_patterns.py

# Tests start hundreds of processes, each of which would compile mnemark anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo quick test collected timed check lint types layers verify browser agents release lowest lock sbom reader adapters frameworks smoke conformance client site load scale format clean

help:            ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

# Exact versions with hashes, which are complete: without --no-deps pip refuses a release with extras that came
# out since (`google-auth[pyopenssl]`). Then the project itself, which fetches nothing.
INSTALL := -m pip install --quiet --disable-pip-version-check
EXACTLY := --require-hashes --no-deps --requirement
UV := $(LOCKING)/bin/uv

# uv takes a tenth of the processor time of pip, but reads none of its settings: where there is no uv for a machine,
# or it reaches no index, pip does the same, and make says so. $(1) is the environment, $(2) its list.
define FILL
@test -x $(1)/bin/python || $(UV) venv --quiet --seed --python $(PYTHON) $(1) || $(PYTHON) -m venv --clear $(1)
@$(UV) pip install --quiet --python $(1) $(EXACTLY) $(2) || \
  (echo "uv did not install $(2): pip tries" && $(1)/bin/python $(INSTALL) $(EXACTLY) $(2))
endef

$(UV): requirements/uv.txt
	@test -x $(LOCKING)/bin/python || $(PYTHON) -m venv $(LOCKING)
	-@$(LOCKING)/bin/python $(INSTALL) --only-binary :all: $(EXACTLY) requirements/uv.txt && touch $@

$(STAMP): pyproject.toml requirements/dev.txt | $(UV)
	$(call FILL,$(VENV),requirements/dev.txt)
	@$(BIN)/python $(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP)   ## index the bilingual sample workspace and ask it questions
	@$(BIN)/mnemark demo

quick: $(STAMP)  ## a minute: what is pure, and one search, one fact, one erasure, one hook
	@$(BIN)/python -m pytest -q -m "not slow and not timed" -n logical --dist worksteal $(LINEAR:%=--ignore=%) $(QUICK)

test: $(STAMP)   ## run the tests (five minutes)
	@$(BIN)/python -m pytest -q -m "not slow and not timed" -n auto --dist worksteal $(LINEAR:%=--ignore=%)

# pytest rewrites each test file when it is first read; those that run at once would each rewrite all of them.
collected: $(STAMP)
	@$(BIN)/python -m pytest -q --collect-only $(LINEAR:%=--ignore=%) >/dev/null

timed: $(STAMP)  ## tests that measure time or kill processes (two minutes); one that fails is tried again alone
	@$(BIN)/python -m pytest -q -m "not slow and timed" -n logical $(TIMED) || \
	  $(BIN)/python -m pytest -q -m "not slow and timed" --last-failed $(TIMED)

lint: $(STAMP)   ## style and likely mistakes
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP)  ## strict types, tests included
	@$(BIN)/mypy

layers: $(STAMP) ## imports point one way
	@$(BIN)/lint-imports

check: lint types layers test timed  ## style, types, layers and the tests

verify: $(STAMP) lowest ## long simulations, fault sweeps, the lowest versions (two hours or so)
	@$(BIN)/python -m pytest -q -m "slow and not timed" -n auto
	@$(BIN)/python -m pytest -q -m slow -n logical $(LINEAR)
	@$(BIN)/python -m pytest -q -m "slow and timed" $(filter-out $(LINEAR),$(TIMED))
	@$(BIN)/python tools/soak.py --minutes 3
	@$(BIN)/python tools/many_files.py --files 100000
	@$(BIN)/python tools/agents.py --latest --bundles || test $$? -eq 75

agents: $(STAMP) ## the real agents that npm has, in the versions of tools/agents.py, and their plug-ins
	@$(BIN)/python tools/agents.py --bundles

lowest: $(UV) ## run the tests with the lowest versions that the project allows
	@$(UV) venv --quiet --clear --python $(PYTHON) .lowest
	@$(UV) pip install --quiet --python .lowest/bin/python --resolution lowest-direct \
	  --editable . --group dev
	@.lowest/bin/python -m pytest -q -p no:cacheprovider -m "not slow and not timed" -n auto

LOCK := $(UV) pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-annotate --custom-compile-command "make lock"

lock: $(UV) ## choose the newest versions for development and CI, with their hashes
	@$(foreach group,dev adapters frameworks hermes litellm browser,$(LOCK) --group $(group) --output-file requirements/$(group).txt pyproject.toml;)
	@$(foreach group,site uv,$(LOCK) --group pyproject.toml:$(group) --output-file requirements/$(group).txt;)

$(LOCKING)/bin/cyclonedx-py: | $(UV)
	@$(UV) pip install --quiet --python $(LOCKING) "cyclonedx-bom>=7"

sbom: $(LOCKING)/bin/cyclonedx-py ## write the bill of materials of an installation: dist/mnemark.cdx.json
	@mkdir -p dist
	@$(UV) venv --quiet --clear --python $(PYTHON) .sbom
	@$(UV) pip install --quiet --python .sbom/bin/python .
	@$(LOCKING)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --output-file dist/mnemark.cdx.json .sbom/bin/python
	@rm -rf .sbom

release: $(STAMP) ## dist/: wheel, sdist, bundles for agents, a .deb; each way of installing them tried here
	@$(BIN)/python -m tools.release

# Environments with the hosts of adapters, each by its own list: they do not go together.
.adapters/.installed .frameworks/.installed .hermes/.installed .litellm/.installed: .%/.installed: pyproject.toml requirements/%.txt | $(UV)
	$(call FILL,.$*,requirements/$*.txt)
	@.$*/bin/python $(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# In a host a recall has 150 ms; where others take the machine it is late, and what it would have known is missing:
# what fails is tried again.
TWICE = @.$(1)/bin/python -m pytest -q $(2) || .$(1)/bin/python -m pytest -q --last-failed $(2)

adapters: .adapters/.installed ## run the adapters in their real hosts (fetched into .adapters); one that fails is tried again
	$(call TWICE,adapters,tests/adapters)

frameworks: .frameworks/.installed .hermes/.installed .litellm/.installed ## the same of those that do not go with these
	$(call TWICE,frameworks,tests/frameworks tests/adapters/test_frameworks_page.py)
	$(call TWICE,hermes,tests/frameworks/test_hermes.py)
	$(call TWICE,litellm,tests/frameworks/test_litellm.py)

smoke: .frameworks/.installed ## of these, two cold runs of an agent of each framework (half a minute)
	$(call TWICE,frameworks,tests/frameworks/test_cold.py)

conformance: $(STAMP) ## the MCP suite, the Inspector and the official clients (npm; fetches into .conformance)
	@$(BIN)/python tools/conformance.py all

client: $(STAMP) ## the TypeScript client, in the AI SDK and Mastra, and packed (npm; fetches into clients/typescript)
	@$(BIN)/python tools/client.py all

browser: $(STAMP) ## the pages in Chromium, with Playwright and axe (installs what is missing; Chromium by apt)
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  (test "$$(id -u)" = 0 && apt-get install -qq -y --no-install-recommends chromium fonts-noto-cjk) || \
	  (echo "install Chromium first: sudo apt-get install chromium fonts-noto-cjk" && exit 1)
	@$(BIN)/python $(INSTALL) $(EXACTLY) requirements/browser.txt
	@$(BIN)/python -m pytest -q -p no:cacheprovider -m browser tests/interfaces/test_web_browser.py

$(PAGES)/.installed: requirements/site.txt | $(UV)
	$(call FILL,$(PAGES)/venv,requirements/site.txt)
	@touch $@

site: $(PAGES)/.installed ## the documentation as pages of HTML, in site/ (half a minute; fetched into .site)
	@$(PAGES)/venv/bin/python -m tools.site.build

.reader/.installed: pyproject.toml requirements/reader.txt
	@test -x .reader/bin/python || $(PYTHON) -m venv .reader
	@.reader/bin/python $(INSTALL) --requirement requirements/reader.txt --editable .
	@touch $@

reader: .reader/.installed ## train the reader of messages from its labels (twenty minutes on one core)
	@.reader/bin/python tools/reader/train.py

scale: $(STAMP)  ## a server beside the embedded engine: answers, times, many memories, kills, failovers, a return to a moment
	@$(BIN)/python tools/scale.py --tenants 10000
	@$(BIN)/python -m pytest -q -m slow tests/server

load: $(STAMP)   ## eight agents at once on one daemon for ten minutes
	@$(BIN)/python tools/load.py --minutes 10

format: $(STAMP) ## rewrite the code in the project's style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:           ## remove what was made
	rm -rf $(VENV) .agents .adapters .frameworks .hermes .litellm $(LOCKING) $(PAGES) site .lowest .sbom .reader .mypy_cache .ruff_cache .pytest_cache .hypothesis
