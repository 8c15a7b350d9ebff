# Two commands do everything, set-up included: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test lint bench docs chaos clean
.DEFAULT_GOAL := help

help:  ## what there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/'

# Built under another name and renamed when complete: an interrupted set-up never looks finished.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Sluice needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Set PYTHON=/path/to/python3.11"; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' || { echo "Python's venv module is missing; install it (Debian: apt-get install python3-venv)"; exit 2; }
	@echo "setting up $(VENV) (a few minutes, once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 10 -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: java
java:
	@command -v java >/dev/null || test -x "$${JAVA_HOME:-/nonexistent}/bin/java" || { echo "Java 17 or newer is missing; install it (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"; exit 2; }

demo: $(READY)  ## compare the policies on workload A and write a report
	@$(BIN)/sluice demo

test: $(READY) java  ## every test; starts and stops what it needs
	@$(BIN)/python -m pytest

lint: $(READY)  ## style, types and import rules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(READY) java  ## speed and memory, as ratios in one run
	@$(BIN)/python -m benchmarks

docs: $(READY)  ## write the generated pages of docs/ again
	@$(BIN)/python -m sluice.settings.reference

chaos: $(READY) java  ## 200 faults on a real broker while events flow: nothing lost, never two owners
	@$(BIN)/python -m tests.live.chaos --faults 200

clean:  ## remove what the commands above made
	@rm -rf $(VENV) out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
