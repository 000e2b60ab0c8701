# Works from a fresh clone with python3 (3.11 to 3.13) and make. Everything goes into .venv.
# An existing .venv is kept and brought up to date.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PY     := $(BIN)/python
STAMP  := $(VENV)/.dev-installed
DOCS_STAMP := $(VENV)/.docs-installed
PEER   := .venv-bench
PEER_STAMP := $(PEER)/.peer-installed
WORKERS ?= 2
PYTEST_ARGS ?=
BENCH_ARGS ?=
FUZZ_SECONDS ?= 600
FUZZ_ARGS ?=

# Compiled programs of the tests: shared by all processes and checkouts, bounded in bytes.
test smoke313 test-newest: export NUMLIFT_COMPILATION_CACHE_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/numlift-tests
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test fuzz fuzz-numpy check format-check lint types layers fix bench docs smoke313 test-newest clean

help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  make \1\t/' | expand -t 24

$(STAMP): pyproject.toml
	@echo "==> set-up: $(VENV) with the package and its development tools (once; again when pyproject.toml changes)"
	@$$(test -x $(PY) && echo $(PY) || echo $(PYTHON)) \
		-c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
		|| { echo "Python 3.11 to 3.13 is needed. Try: make $(MAKECMDGOALS) PYTHON=python3.11"; \
			if test -x $(PY); then echo "(first remove $(VENV), which has another version)"; fi; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
	@$(PY) -m pip install --quiet -e '.[dev]'
	@touch $@

setup: $(STAMP) ## Create .venv and install the package for development

demo: $(STAMP) ## Run the guided tour
	@echo "==> demo: examples/tour.py"
	@$(PY) examples/tour.py

test: $(STAMP) ## Run all tests and doctests
	@echo "==> test: pytest with $(WORKERS) processes"
	@$(PY) -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

fuzz: $(STAMP) ## Random programs against the slow reference for FUZZ_SECONDS, printing what fails
	@echo "==> fuzz: random programs for $(FUZZ_SECONDS) s"
	@$(PY) -m tests.random_programs.fuzz --seconds $(FUZZ_SECONDS) $(FUZZ_ARGS)

fuzz-numpy: $(STAMP) ## Random calls of every NumPy function for FUZZ_SECONDS, printing what fails
	@echo "==> fuzz-numpy: random calls for $(FUZZ_SECONDS) s"
	@$(PY) -m tests.numpy.properties.fuzz --seconds $(FUZZ_SECONDS) $(FUZZ_ARGS)

format-check: $(STAMP)
	@echo "==> format: ruff format --check"
	@$(BIN)/ruff format --check .

lint: $(STAMP)
	@echo "==> lint: ruff check"
	@$(BIN)/ruff check .

types: $(STAMP)
	@echo "==> types: mypy"
	@$(BIN)/mypy

layers: $(STAMP)
	@echo "==> layers: import-linter"
	@PYTHONPATH=src $(BIN)/lint-imports

check: format-check lint types layers smoke313 test ## Everything that CI checks

fix: $(STAMP) ## Format the code and apply the safe lint fixes
	@echo "==> fix: ruff check --fix, ruff format"
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

$(PEER_STAMP): pyproject.toml
	@echo "==> set-up: $(PEER) with the peer (jax) that the benchmarks compare with"
	@test -x $(PEER)/bin/python || $(PY) -m venv $(PEER)
	@$(PEER)/bin/python -m pip install --quiet 'jax>=0.10.2,<0.13' 'ml_dtypes<0.7' 'rich>=13.7,<16'
	@touch $@

bench: $(STAMP) $(PEER_STAMP) ## Compare with jax: table on screen, output/benchmarks.json
	@echo "==> bench: numlift and jax in alternating processes"
	@$(PY) -m benchmarks.run --peer-python $(PEER)/bin/python $(BENCH_ARGS)

$(DOCS_STAMP): pyproject.toml $(STAMP)
	@echo "==> set-up: documentation tools"
	@$(PY) -m pip install --quiet -e '.[docs]'
	@touch $@

docs: $(DOCS_STAMP) ## Build docs/ to site/
	@echo "==> docs: sphinx to site/"
	@$(PY) -m sphinx -W --keep-going -q -b html -d output/doctrees docs site
	@echo "    site/index.html"

smoke313: ## Run the tests marked smoke on Python 3.13, if there is one
	@bash scripts/test_on.sh 3.13 smoke

test-newest: ## Run all tests and doctests on Python 3.13 with the newest packages
	@bash scripts/test_on.sh 3.13 all -n $(WORKERS) $(PYTEST_ARGS)

clean: ## Remove what the other targets made, environments too
	@echo "==> clean"
	@rm -rf $(VENV) .venv-bench .venv-3.13 output examples/output site build dist \
		.pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
