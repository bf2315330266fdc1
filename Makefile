# Everything works with plain pip and Python 3.11+. Outside this folder only the cache of compiled code is written.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JS := tools/js

.PHONY: demo test test-all fuzz fuzz-replay lint lint-js docs bench dist lock audit clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("treeball needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# The exact versions of requirements-dev.txt, each with its hashes, where LOCKED=1 asks for them; .ci/run does.
# Only what is not in there, torch, triton and what needs them, then comes from pyproject.toml.
LOCKED ?=

$(VENV)/.locked: requirements-dev.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

# One stamp per set of extras: a set is installed again when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml $(if $(LOCKED),$(VENV)/.locked) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

demo: $(VENV)/.installed
	@mkdir -p demo
	$(BIN)/treeball fit example:mammals --output demo/mammals.parquet
	$(BIN)/treeball evaluate demo/mammals.parquet
	$(BIN)/treeball neighbors demo/mammals.parquet dog.n.01
	$(BIN)/treeball view demo/mammals.parquet --html demo/mammals.html

# A worker that has nothing left takes tests from the other, so that neighbours share what they have trained.
PYTEST = $(BIN)/python -m pytest -n 2 --dist worksteal -rsfE

test: $(VENV)/.installed-test
	$(PYTEST) -m "not slow"

test-all: $(VENV)/.installed-test
	$(PYTEST)

# Inputs that nobody means, for so many seconds; a seed makes the same ones again. What is found lies in fuzz-findings/.
FUZZ_SECONDS ?= 20
FUZZ_SEED ?=

fuzz: $(VENV)/.installed-test
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS) $(if $(FUZZ_SEED),--seed $(FUZZ_SEED)) $(if $(FUZZ_INPUTS),--inputs $(FUZZ_INPUTS))

# Tries the input of a finding again: make fuzz-replay FILE=fuzz-findings/NAME, and SHRINK=500 makes it smaller.
SHRINK ?= 0

fuzz-replay: $(VENV)/.installed-test
	$(BIN)/python -m tests.fuzz --replay $(FILE) --shrink $(SHRINK)

# The types of the tests are those of the libraries that they use.
lint: $(VENV)/.installed-lint $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory lint-js; \
	else echo "SKIPPED: the scripts of the pages were not checked, because npm is not installed"; fi

# Types (tsc) and habits (eslint) of the scripts that the pages carry; nothing of npm's is shipped.
lint-js: $(JS)/node_modules/.installed
	npm --prefix $(JS) run --silent lint

$(JS)/node_modules/.installed: $(JS)/package.json $(JS)/package-lock.json
	npm --prefix $(JS) ci --silent --no-audit --no-fund
	@touch $@

docs: $(VENV)/.installed-docs
	$(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/train_speed.py
	$(BIN)/python benchmarks/evaluate_speed.py

# What a release consists of, in dist/: a source archive and a wheel.
dist: $(VENV)/.installed-dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*

# Writes requirements-dev.txt anew: the newest versions that pyproject.toml allows, for all systems and Pythons.
# It names no index: each file is known by its hash, wherever it comes from.
lock: $(VENV)/.installed-lock
	printf '# Versions and hashes for development and CI: pip install --require-hashes -r requirements-dev.txt; written by make lock.\n' > $(VENV)/lock.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --all-extras --upgrade \
	  --override tools/lock-overrides.txt --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	  pyproject.toml >> $(VENV)/lock.txt
	mv $(VENV)/lock.txt requirements-dev.txt

# Known vulnerabilities of what requirements-dev.txt names. Where no database can be reached it says so, and is no failure.
audit: $(VENV)/.installed-audit
	$(BIN)/python tools/audit.py requirements-dev.txt || [ $$? -eq 3 ]

clean:
	rm -rf $(VENV) $(JS)/node_modules demo site build dist fuzz-findings .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks docs tools -name __pycache__ -prune -exec rm -rf {} +
