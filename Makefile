# Everything runs in .venv; python3 and make are all that is needed to create it.
#   make study    make test    make help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT := study
FOLDER := .
KILLS := 1000
SECONDS :=
FILES :=
SEED := 0
GUIDED :=
PIP_INSTALL := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt

# uv installs in seconds what takes pip most of a minute. Where there is no uv, or it fails, pip installs all.
# pip's own package index is handed on to uv.
INDEX = $${PIP_INDEX_URL:-$$($(BIN)/python -m pip config get global.index-url 2>/dev/null)}
UV_INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt
install = { test -x $(BIN)/uv && { index="$(INDEX)"; $${index:+env UV_DEFAULT_INDEX="$$index"} $(UV_INSTALL) $(1) 2>/dev/null; } || $(PIP_INSTALL) $(1); }

# Some tests wait for browsers and servers: one process more than cores keeps all cores busy.
WORKERS = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
PYTEST = pytest -n $(WORKERS) --dist loadfile

# Without bytecode files every process started by the tests would compile all sources again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install study app gpu dask test tests fast coverage deep versions lint style types bench torture fuzz docs release clean

help: ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-9s %s\n", $$1, $$2}'

install: $(VENV)/.installed ## install pqswarm into .venv

study: $(VENV)/.installed ## run a small version of the paper's study; writes ./study/report.html in two to four minutes
	$(BIN)/pqswarm study quick --out $(OUT)

app: $(VENV)/.installed-app ## show the recordings and studies of this folder, or FOLDER=..., in a browser
	$(BIN)/pqswarm app $(FOLDER)

gpu: $(VENV)/.installed-gpu ## install support for NVIDIA GPUs (pqswarm study paper --device cuda)

dask: $(VENV)/.installed-dask ## install support for Dask clusters (pqswarm study paper --cluster tcp://...)

test: $(VENV)/.installed-dev ## check style, types and layers and run all tests, in about six minutes on two cores
	@$(MAKE) --no-print-directory --jobs 2 tests lint

tests: $(VENV)/.installed-dev
	$(BIN)/python -m $(PYTEST)

fast: $(VENV)/.installed-dev ## run the fast tests, without kills, clusters, browsers and fuzzing
	$(BIN)/python -m $(PYTEST) -m "not slow"

coverage: $(VENV)/.installed-dev ## run all tests and list the lines they do not reach; takes longer
	$(BIN)/python -m $(PYTEST) --cov --cov-report=term

deep: $(VENV)/.installed-dev ## run all tests with all random cases, thirty times as many of evaluators and features
	PQSWARM_DEPTH=30 $(BIN)/python -m $(PYTEST) tests

versions: $(VENV)/.installed ## try each allowed version of each dependency and of Python, in about an hour: docs/results/versions.csv
	$(BIN)/python -m tests.versions --again

fuzz: $(VENV)/.installed-fuzz ## feed hostile files to all readers for an hour (SECONDS=600, FILES=1000000, SEED=1, GUIDED=1)
	$(BIN)/python -m tests.fuzz --seed $(SEED) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(FILES),--files $(FILES)) \
		$(if $(GUIDED),--guided)

# Uses one core while the tests start on the others.
lint: style types

style: $(VENV)/.installed-dev
	$(BIN)/ruff check src tests benchmarks research
	$(BIN)/ruff format --check src tests benchmarks research
	$(BIN)/lint-imports

types: $(VENV)/.installed-dev
	$(BIN)/mypy

bench: $(VENV)/.installed-dev ## measure speed and compare it with the last release, in about ten minutes
	$(BIN)/python benchmarks/run.py

torture: $(VENV)/.installed-dev ## kill studies and watchers KILLS=1000 times, fill disks, compare machines, in about an hour
	$(BIN)/python -m tests.torture --kills $(KILLS)
	$(BIN)/python -m tests.torture.archive --kills 60
	$(BIN)/python -m tests.torture.selector --signals 50

docs: $(VENV)/.installed-docs ## build the documentation with its gallery, in about two minutes: docs/_build/html/index.html
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

release: $(VENV)/.installed-dev ## build wheel, source archive and SBOM, and test them in fresh environments: dist
	$(BIN)/python -m tests.release

clean: ## remove everything that can be rebuilt
	rm -rf docs/_build docs/auto_examples docs/reference/generated examples/*.png
	rm -rf $(VENV) $(OUT) dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks research -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "pqswarm needs Python 3.11 or newer; give its path: make PYTHON=/path/to/python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "could not create a virtual environment; on Debian or Ubuntu: apt install python3-venv"; exit 1; }
	@$(PIP_INSTALL) uv 2>/dev/null || true

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	@$(call install,--editable .)
	@touch $@

# The kernels are compiled while the tools of development are installed: dependencies of an extra, without a new build.
$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/.installed
	@$(BIN)/python -m tests.compiling & compiling=$$!; $(call install,'pqswarm[dev]') && wait $$compiling
	@touch $@

$(VENV)/.installed-fuzz: pyproject.toml constraints.txt | $(BIN)/python
	@$(call install,--editable '.[dev,fuzz]')
	@touch $@ $(VENV)/.installed $(VENV)/.installed-dev

# Extras are added to the installed packages; pqswarm stays the code of this folder.
$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	@$(call install,--editable '.[$*]')
	@touch $@ $(VENV)/.installed
