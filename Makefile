# Tablecast. `make` lists the verbs. Everything that is fetched or built stays inside this folder, in places that git ignores.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Node and npm come from a Python package, so they are on the virtualenv's path and nobody installs them by hand.
WITH_NODE := PATH="$(CURDIR)/$(BIN):$$PATH"
PAGE := src/tablecast/server/page/index.html
WEB_SOURCES := $(shell git ls-files --cached --others --exclude-standard -- web 2>/dev/null | grep -v -e '\.spec\.ts$$' -e '\.md$$')
say = @printf '\033[1m[setup]\033[0m %s\n'

.PHONY: help demo test lint unit webtest bench fuzz sbom audit lock docs clean page java setup chromium

help: ## List the verbs
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: setup ## Set everything up and run it with sample data; prints the address to open
	@exec $(BIN)/tablecast demo

test: $(VENV)/.ready chromium ## Set everything up and pass every test
	$(say) "The page, Java's packages, style, types, and the tests that need no Kafka, Spark or browser"
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target java unit page lint webtest
	$(say) "The tests on a real Kafka, Spark and Chromium"
	@$(BIN)/pytest tests/browser tests/integration tests/pipeline --durations=25 $(ARGS)

lint: $(VENV)/.ready web/node_modules/.ready ## Check style and types of Python and TypeScript
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary
	@cd web && $(WITH_NODE) npm run lint --silent

unit: $(VENV)/.ready ## Only the tests that need no Kafka, Spark or browser: seconds
	@$(BIN)/pytest tests/unit tests/fuzz tests/test_house.py $(ARGS)

webtest: web/node_modules/.ready ## Only the tests of the page and its client
	@cd web && $(WITH_NODE) npm test --silent

bench: setup chromium ## Measure everything and write docs/benchmarks.md; one: make bench NAME=latency ARGS="--table users_ui"
	@$(BIN)/python -m bench$(if $(NAME),.$(NAME) --json) $(ARGS)

fuzz: $(VENV)/.ready ## Try a hundred thousand hostile inputs on all that parses them: make fuzz ARGS="--fuzz-seed 9"
	@$(BIN)/pytest tests/fuzz --inputs $(or $(INPUTS),100000) --durations=0 $(ARGS)
	@cat artifacts/fuzz.json

sbom: $(VENV)/.ready ## Write a bill of materials, artifacts/sbom.json (CycloneDX): Python, npm, Java
	@$(WITH_NODE) $(BIN)/python -m supply.sbom artifacts/sbom.json

audit: $(VENV)/.ready ## Ask whether anything that is pinned is known to be vulnerable; needs a network
	@$(WITH_NODE) $(BIN)/python -m supply.audit

lock: $(VENV)/.ready ## Write requirements.lock anew, after a change of constraints.txt
	@$(BIN)/python -m supply.lock

docs: $(VENV)/.ready ## Write docs/reference anew from the code
	@$(BIN)/python docs/reference/generate.py

clean: ## Remove everything that was fetched, built or recorded
	rm -rf $(VENV) .tablecast web/node_modules web/*/node_modules web/.angular $(dir $(PAGE)) dist artifacts
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup: page java

java: $(VENV)/.ready
	@$(BIN)/tablecast setup

page: $(PAGE) ## Build the page

$(VENV)/.ready: pyproject.toml constraints.txt requirements.lock
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed, and there is no $(PYTHON) here. Install it, or say make PYTHON=/path/to/python3." >&2; exit 1; }
	$(say) "Python packages (about two minutes the first time)"
	@test -x $(BIN)/python || { chosen="$$($(PYTHON) supply/interpreter.py $(if $(filter file,$(origin PYTHON)),,--only-this))" && "$$chosen" -m venv $(VENV); }
	@# What is built from its source, as PySpark is, is built by the pinned tools too.
	@PIP_CONSTRAINT="$(CURDIR)/constraints.txt" $(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 --no-deps --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --constraint constraints.txt --editable '.[dev]'
	@touch $@

web/node_modules/.ready: $(VENV)/.ready web/package-lock.json
	$(say) "Node packages (about 40 seconds the first time)"
	@cd web && $(WITH_NODE) npm ci --silent --no-audit --no-fund
	@touch $@

$(PAGE): web/node_modules/.ready $(WEB_SOURCES)
	$(say) "The page"
	@cd web && $(WITH_NODE) npm run build --silent
	@touch $@

chromium:
	@command -v chromium chromium-browser google-chrome >/dev/null || { \
	  command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] || { echo "The browser tests need Chromium: install it (Debian: sudo apt install chromium), then run again." >&2; exit 1; }; \
	  printf '\033[1m[setup]\033[0m %s\n' "Chromium, by apt"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; }
