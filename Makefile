# Everything works with plain pip and Python 3.11+. Outside this folder only the cache of compiled code is written.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint docs bench clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("treeball needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras: a set is installed again when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
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

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n 2 -rs

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	$(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/train_speed.py
	$(BIN)/python benchmarks/evaluate_speed.py

clean:
	rm -rf $(VENV) demo site dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
