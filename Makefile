# make demo   sets everything up and opens JupyterLab on the tour
# make test   sets everything up, a browser too, and runs all tests
# make test-oldest-lab  some browser tests on JupyterLab 4.2 and Notebook 7.2
# make test-targets  the tests of targets, with the plugins of JAX for devices that are not there (430 MB of wheels)
# make check  lint, format and types
# make bench  the benchmarks

PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export JAX_PLATFORMS ?= cpu

# Tests of a file stay together: they share what is costly to make. More processes than this want too much memory.
PYTEST_PROCESSES := -n logical --maxprocesses=4 --dist loadfile

# JupyterLab refuses to run as root unless it is told to.
ROOT_FLAG := $(shell [ "$$(id -u)" = 0 ] && echo --allow-root)

.PHONY: demo test test-ts test-python test-smoke test-oldest-lab test-targets check format bench setup clean

demo: setup
	$(BIN)/jupyter lab --ip=127.0.0.1 $(ROOT_FLAG) $(DEMO_ARGS) examples/tour.ipynb

test: test-ts test-python test-smoke

test-ts: setup
	$(BIN)/jlpm test

test-python: setup
	CHROMIUM="$$($(BIN)/python tools/browser.py)" && export CHROMIUM && $(BIN)/python -m pytest $(PYTEST_PROCESSES) $(PYTEST_ARGS)

test-smoke: setup
	$(BIN)/python tools/smoke.py

test-oldest-lab: setup
	CHROMIUM="$$($(BIN)/python tools/browser.py)" && export CHROMIUM && $(BIN)/python tools/oldest_lab.py $(PYTEST_ARGS)

test-targets: setup
	$(BIN)/python tools/targets.py $(PYTEST_ARGS)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/jlpm types
	$(BIN)/jlpm lint

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/jlpm format

bench: setup
	$(BIN)/python -m bench $(BENCH_ARGS)

setup:
	@$(PYTHON) tools/setup.py

clean:
	rm -rf .venv .venv-oldest .venv-newest .venv-oldest-lab .venv-targets node_modules build dist jaxviz/labextension jaxviz/static test-results
