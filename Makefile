# `make` lists the targets that have a line after ##. An environment keeps the PYTHON, TORCH and TORCH_INDEX that it was
# made with; asking for others makes it anew.
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
# Two workers per core, up to eight: half of a test is a wait for another process
IN_PARALLEL := --numprocesses $(shell n=$$((2 * $$(env -u OMP_NUM_THREADS nproc))); echo $$((n < 8 ? n : 8))) --dist worksteal
PYTEST := $(TESTING) $(BIN)/python -m pytest $(IN_PARALLEL)
PIP_HASHED := $(PIP_INSTALL) --require-hashes --no-deps

NEWEST ?= $(VENV)/newest-torch
TRACKERS := $(VENV)/trackers
COMET := $(VENV)/comet
AUTHORS_CODE ?= build/authors_code
TENSORFLOW := $(VENV)/tensorflow
COMMANDS := tests/test_subcommands.py tests/cli tests/checkpoints tests/protocols tests/evaluation tests/recipes \
	tests/corpora/preparing/test_prepare.py tests/comparison/test_compare.py tests/serving tests/analysis/test_analyse.py \
	tests/exporting tests/end_to_end/test_generation.py

SCHEMA := $(BIN)/check-jsonschema --builtin-schema
SHELL_SCRIPTS := $(wildcard recipes/*.sh recipes/*/*.sh recipes/*/*.sbatch)

SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)
APT := apt-get -o DPkg::Lock::Timeout=600
BROWSER := $(or $(CHROMIUM),$(shell command -v chromium || command -v chromium-browser || command -v google-chrome))
SLURM := $(shell PATH="$$PATH:/usr/sbin" command -v slurmctld)

.PHONY: help install demo demo-longer docs check audit constraints licences format test unit stock newest trackers comet-parity \
	authors-code bench bench-gpu test-gpu browser reliability slurm sanitise clean anew
help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS=$$'\t' read -r target what; do printf 'make %-12s  %s\n' "$$target" "$$what"; done
	@printf '\n%s\n' 'settings: VENV=.venv PYTHON=python3 TORCH=$(PINNED) TORCH_INDEX=https://download.pytorch.org/whl/cpu'

install: $(VENV)/installed ## make .venv with Python, torch, fairseq, all extras and the tools

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

demo: install ## compare five architectures at two depths on a synthetic corpus: 12 minutes
	PATH="$(abspath $(BIN)):$$PATH" recipes/quickstart/run.sh demo

demo-longer: install ## compare 18 layers at three budgets on the same corpus
	PATH="$(abspath $(BIN)):$$PATH" recipes/quickstart/longer.sh demo-longer

docs: $(WEBSITE)/installed ## write the website build/site, which needs no network; a broken link fails
	NO_MKDOCS_2_WARNING=1 $(WEBSITE)/bin/mkdocs build --quiet --config-file tools/website/mkdocs.yml
	@echo "open build/site/index.html"

$(WEBSITE)/installed: tools/website/constraints.txt
	test -x $(WEBSITE)/bin/python || $(PYTHON) -m venv $(WEBSITE)
	$(WEBSITE)/bin/python -m pip install --quiet --require-hashes --no-deps --requirement $<
	touch $@

check: install ## run ruff, mypy, the linters of pages, scripts and CI, and the audit
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pymarkdown scan --recurse --exclude 'docs/results/*/table.md' --exclude docs/results/gpu_on_paper.md \
		--exclude docs/results/reliability.md *.md docs recipes
	$(BIN)/shellcheck --external-sources $(SHELL_SCRIPTS)
	$(BIN)/hadolint Dockerfile
	$(SCHEMA) vendor.github-workflows .github/workflows/tests.yml
	$(SCHEMA) custom.github-workflows-require-timeout .github/workflows/tests.yml
	$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA) vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/idea.yml
	$(SCHEMA) vendor.citation-file-format CITATION.cff
	$(MAKE) audit

audit: install ## fail for a known vulnerability; say so where its data cannot be reached
	$(BIN)/python tools/audit.py $(VENV)/audit

constraints: ## pin what pyproject.toml asks for, by uv; PINS="--upgrade-package numpy" raises a pin
	python3 tools/constraints.py $(PINS)

licences: install $(WEBSITE)/installed ## write docs/licences.md
	$(BIN)/python tools/licences.py docs/licences.md $(WEBSITE)

format: install ## put right what ruff can put right
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

browser: ## install Chromium, in which the tests open the report and the website
	$(if $(BROWSER),,$(SUDO) $(APT) update -qq && $(SUDO) $(APT) install -qq --no-install-recommends chromium)

test: install browser docs ## run the whole suite, and print its slowest twenty tests: about 10 minutes
	$(PYTEST) --durations=20 --durations-min=1

test-gpu: install ## test what only a GPU shows; without one these tests are skipped
	$(PYTEST) -m "not stock" tests/model/test_cuda.py tests/end_to_end/test_cuda_training.py

unit: install ## test the models and their parts alone, and print the coverage
	$(PYTEST) --cov --cov-report= tests/model tests/single_stack tests/kernels tests/training tests/common tests/data_bins
	@echo "coverage of the same rooms of realformer_nmt: $$($(BIN)/python -m coverage report --format=total) %"

stock: install ## show that stock fairseq still needs the patches
	$(PYTEST) -m stock

newest: ## test every command on the newest torch that installs, in an environment of its own
	$(MAKE) install VENV=$(NEWEST) TORCH=torch
	$(TESTING) $(NEWEST)/bin/python -m pytest $(IN_PARALLEL) $(COMMANDS)
	$(TESTING) $(NEWEST)/bin/python -m pytest $(IN_PARALLEL) -m stock tests/fairseq_patches

trackers: install ## test what trainings log to TensorBoard and W&B, installed in a folder of their own
	$(PIP_INSTALL) --upgrade --target $(TRACKERS) tensorboard wandb
	PYTHONPATH=$(abspath $(TRACKERS)) $(TESTING) $(BIN)/python -m pytest tests/protocols/test_trackers.py

# its requirements fit Python 3.10 to 3.12; newer setuptools have no pkg_resources, and newer sentencepiece no protobuf 4
comet-parity: install ## score tiny COMET models by unbabel-comet, installed apart, then by ours
	test -x $(COMET)/bin/python || $(PYTHON) -m venv $(COMET)
	$(COMET)/bin/python -m pip install --quiet $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) \
		unbabel-comet==2.2.7 sentencepiece==0.2.0 'setuptools<81'
	PYTHONPATH=tests/helpers $(COMET)/bin/python tests/helpers/tiny_models/comet_parity.py \
		tests/evaluation/comet/expected_scores.json
	$(TESTING) $(BIN)/python -m pytest tests/evaluation/comet

# AUTHORS_CODE may hold checkouts already, which are used as they are; FAMILIES="rezero dyt" records these alone
authors-code: install ## run the authors' code of families on the same weights, record it, and compare ours
	$(PIP_INSTALL) --no-deps --upgrade --target $(AUTHORS_CODE)/packages einops
	test -x $(TENSORFLOW)/bin/python || $(PYTHON) -m venv $(TENSORFLOW)
	$(TENSORFLOW)/bin/python -m pip install --quiet tensorflow-cpu gin-config tf-keras tf-slim
	TENSORFLOW_PYTHON=$(TENSORFLOW)/bin/python PYTHONPATH=.:tools:tests/helpers:$(AUTHORS_CODE)/packages $(TESTING) \
		$(BIN)/python tools/authors_code/record.py $(AUTHORS_CODE) tests/model/authors_code $(FAMILIES)
	$(TESTING) $(BIN)/python -m pytest tests/model/test_authors_code.py

# BENCH="--sizes 6-6 18-18 60-12 --families all --checkpointed" takes hours on a CPU
bench: install ## measure speed and memory beside stock fairseq
	$(BIN)/python benchmarks/speed.py $(BENCH)

bench-gpu: install ## measure on a GPU what docs/results/gpu_on_paper.md counts; say so where there is none
	$(BIN)/python benchmarks/replayed.py docs/results/replayed.json
	mkdir -p build && $(BIN)/python benchmarks/gpu.py --measured --json build/gpu_measured.json $(BENCH)

reliability: install ## kill trainings, fill disks, lose ranks: 8 minutes as root; then run all cases
	OMP_NUM_THREADS=1 $(BIN)/python -m reliability $(RELIABILITY)
	$(PYTEST) -m product

slurm: install ## start a cluster of SLURM here, as root, and lose its jobs, nodes and disks: 6 minutes
	$(if $(SLURM),,$(SUDO) $(APT) update -qq && $(SUDO) $(APT) install -qq --no-install-recommends slurm-wlm munge)
	OMP_NUM_THREADS=1 $(BIN)/python -m reliability --only slurm

sanitise: install ## call the kernels in C, built with gcc's sanitisers, in thousands of odd ways
	OMP_NUM_THREADS=1 $(BIN)/python -m reliability --only kernels

clean: ## remove the environment and what was built
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache
