# make install | demo | check | format | test | clean, on a machine with python3, make and a C++ compiler.
#   VENV=.venv  PYTHON=python3  TORCH=torch==2.11.0  TORCH_INDEX=https://download.pytorch.org/whl/cpu
# An environment keeps the PYTHON, TORCH and TORCH_INDEX it was made with; asking for others makes it anew.
SHELL := bash
VENV ?= .venv
-include $(VENV)/made-with.mk
PYTHON ?= python3
PINNED := $(shell grep '^torch==' constraints.txt)
TORCH ?= $(PINNED)
TORCH_INDEX ?=
WANTED := $(PYTHON) $(TORCH) $(TORCH_INDEX)
ANEW := $(if $(MADE_WITH),$(if $(filter-out $(MADE_WITH),$(WANTED)),anew))

BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)
BROWSER := $(or $(CHROMIUM),$(shell command -v chromium || command -v chromium-browser || command -v google-chrome))

.PHONY: install demo check format test browser clean anew
install: $(VENV)/installed

$(VENV)/installed: Makefile constraints.txt setup.py pyproject.toml realformer_nmt/engine.py $(ANEW)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	grep -v '^torch==' constraints.txt > $(VENV)/constraints.txt
	$(PIP_INSTALL) --constraint $(VENV)/constraints.txt '$(TORCH)' --editable '.[dev]'
	$(BIN)/realformer-nmt install-engine
	$(BIN)/python -m pip check
	printf '%s\n' 'MADE_WITH := $(WANTED)' 'PYTHON ?= $(PYTHON)' 'TORCH_INDEX ?= $(TORCH_INDEX)' \
		$(if $(filter-out $(PINNED),$(TORCH)),'TORCH ?= $(TORCH)') > $(VENV)/made-with.mk
	touch $@

anew:
	rm -rf $(VENV)

demo: install
	PATH="$(abspath $(BIN)):$$PATH" recipes/quickstart/run.sh demo

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The tests open the report in it
browser:
	$(if $(BROWSER),,$(SUDO) apt-get update -qq && $(SUDO) apt-get install -qq --no-install-recommends chromium)

test: install browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache
