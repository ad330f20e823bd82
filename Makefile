# make install | demo | demo-longer | docs | check | audit | constraints | licences | format | test | unit | newest | trackers | bench | bench-gpu | reliability | slurm | sanitise | clean
# on a machine with python3, make and a C++ compiler.
#   VENV=.venv  PYTHON=python3  TORCH=torch==2.11.0  TORCH_INDEX=https://download.pytorch.org/whl/cpu
# An environment keeps the PYTHON, TORCH and TORCH_INDEX it was made with; asking for others makes it anew.
SHELL := bash
VENV ?= .venv
-include $(VENV)/made-with.mk
PYTHON ?= python3
PINNED := torch==2.13.0
TORCH ?= $(PINNED)
TORCH_INDEX ?=
WANTED := $(PYTHON) $(TORCH) $(TORCH_INDEX)
ANEW := $(if $(MADE_WITH),$(if $(filter-out $(MADE_WITH),$(WANTED)),anew))

BIN := $(VENV)/bin
KERNELS := $(wildcard realformer_nmt/kernels/native/*.[ch])
WEBSITE := $(VENV)/docs
PIP_INSTALL := $(BIN)/python -m pip install --quiet
# Bytecode is kept even where the user's shell says not to: a thousand processes import the same modules
TESTING := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1
PYTEST := $(TESTING) $(BIN)/python -m pytest --numprocesses auto --dist worksteal
PIP_HASHED := $(PIP_INSTALL) --require-hashes --no-deps

NEWEST ?= $(VENV)/newest-torch
TRACKERS := $(VENV)/trackers
COMMANDS := tests/test_command.py tests/cli tests/checkpoints tests/protocols tests/evaluation tests/recipes \
	tests/corpora/test_prepare.py tests/comparison/test_compare.py tests/serving tests/analysis/test_analyse.py \
	tests/exporting tests/end_to_end/test_generation.py

SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)
APT := tools/apt_get.sh
BROWSER := $(or $(CHROMIUM),$(shell command -v chromium || command -v chromium-browser || command -v google-chrome))
SLURM := $(shell PATH="$$PATH:/usr/sbin" command -v slurmctld)

.PHONY: install demo demo-longer docs check audit constraints licences format test unit newest trackers bench bench-gpu browser reliability slurm sanitise clean anew
install: $(VENV)/installed

$(VENV)/installed: Makefile constraints.txt setup.py pyproject.toml realformer_nmt/cli/engine.py $(KERNELS) $(ANEW)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	sed -n '/^setuptools==/,/[^\\]$$/p' constraints.txt > $(VENV)/setuptools.txt
	$(PIP_HASHED) --requirement $(VENV)/setuptools.txt
	$(PIP_HASHED) --no-build-isolation --requirement constraints.txt
	$(PIP_INSTALL) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) '$(TORCH)'
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	$(BIN)/realformer-nmt install-engine
	$(BIN)/python -m pip check
	printf '%s\n' 'MADE_WITH := $(WANTED)' 'PYTHON ?= $(PYTHON)' 'TORCH_INDEX ?= $(TORCH_INDEX)' \
		$(if $(filter-out $(PINNED),$(TORCH)),'TORCH ?= $(TORCH)') > $(VENV)/made-with.mk
	touch $@

anew:
	rm -rf $(VENV)

demo: install
	PATH="$(abspath $(BIN)):$$PATH" recipes/quickstart/run.sh demo

demo-longer: install
	PATH="$(abspath $(BIN)):$$PATH" recipes/quickstart/longer.sh demo-longer

# The documentation as a website in build/site, which needs no network; a broken link fails
docs: $(WEBSITE)/installed
	NO_MKDOCS_2_WARNING=1 $(WEBSITE)/bin/mkdocs build --quiet --config-file tools/website/mkdocs.yml
	@echo "open build/site/index.html"

$(WEBSITE)/installed: tools/website/constraints.txt
	test -x $(WEBSITE)/bin/python || $(PYTHON) -m venv $(WEBSITE)
	$(WEBSITE)/bin/python -m pip install --quiet --require-hashes --no-deps --requirement $<
	touch $@

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pymarkdown scan --recurse --exclude 'docs/results/*/table.md' --exclude docs/results/gpu_on_paper.md \
		--exclude docs/results/reliability.md *.md docs recipes
	$(MAKE) audit

# Fails for a known vulnerability, and says so where its data cannot be reached
audit: install
	$(BIN)/python tools/audit.py $(VENV)/audit

# Needs uv; PINS="--upgrade-package numpy" raises a pin
constraints:
	python3 tools/constraints.py $(PINS)

licences: install $(WEBSITE)/installed
	$(BIN)/python tools/licences.py docs/licences.md $(WEBSITE)

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The tests open the report and the website in it
browser:
	$(if $(BROWSER),,$(SUDO) $(APT) update -qq && $(SUDO) $(APT) install -qq --no-install-recommends chromium)

test: install browser docs
	$(PYTEST) --durations=30 --durations-min=1

# The models and their parts, which start next to no command
unit: install
	$(PYTEST) tests/model tests/kernels tests/training tests/common tests/data_bins

# Every command, on the newest torch that installs, in an environment of its own
newest:
	$(MAKE) install VENV=$(NEWEST) TORCH=torch
	$(TESTING) $(NEWEST)/bin/python -m pytest --numprocesses auto --dist worksteal $(COMMANDS)

# What trainings log to TensorBoard and W&B, which are installed in a folder of their own
trackers: install
	$(PIP_INSTALL) --upgrade --target $(TRACKERS) tensorboard wandb
	PYTHONPATH=$(abspath $(TRACKERS)) $(TESTING) $(BIN)/python -m pytest tests/protocols/test_trackers.py

# Beside stock fairseq; BENCH="--sizes 6-6 18-18 60-12 --families all --checkpointed" takes hours on a CPU
bench: install
	$(BIN)/python benchmarks/speed.py $(BENCH)

# The counts of docs/results/gpu_on_paper.md, measured on the GPU that is there; says so where there is none
bench-gpu: install
	$(BIN)/python benchmarks/gpu_measured.py $(BENCH)

# kill -9, full disks, lost machines: about half an hour; as root, all of it
reliability: install
	OMP_NUM_THREADS=1 $(BIN)/python -m reliability $(RELIABILITY)

# A cluster of SLURM on this machine, in a folder of its own; comparisons there lose jobs, nodes and disks. Needs root
slurm: install
	$(if $(SLURM),,$(SUDO) $(APT) update -qq && $(SUDO) $(APT) install -qq --no-install-recommends slurm-wlm munge)
	OMP_NUM_THREADS=1 $(BIN)/python -m reliability --only slurm

# The kernels in C, built with gcc's sanitisers beside the installed ones, and thousands of odd calls of them
sanitise: install
	OMP_NUM_THREADS=1 $(BIN)/python -m reliability.native_fuzzing build/sanitised $(CALLS)

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache
