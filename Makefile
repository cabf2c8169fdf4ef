# mklearn: `make run` makes the default study, `make test` passes the tests; both set up what they need first.
# On a fresh machine nothing is needed but Python >= 3.11, make and git.

PYTHON ?= python3
CORES  ?= all
STUDY  ?=
TESTS  ?=
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST := $(VENV)/bin/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
READY  := $(VENV)/.ready
DOCS   := $(VENV)/.docs
UV     := $(shell command -v uv 2>/dev/null || echo .tools/bin/uv)
COMPILE := pip compile -q --no-config --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url

.DEFAULT_GOAL := help
unexport PYTHONDONTWRITEBYTECODE # with it, each test worker, job and process of a test compiles all that it imports
.PHONY: help setup run failed test test-all smoke oracle test-core lint budget format lock schema docs slurm plugin clean clean-cache

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## make .venv from requirements.lock (every package pinned by hash)

run: $(READY) ## the default study: results/six-views/report/index.html; another one: make run STUDY=FILE.yaml; VERBOSE=1 shows every job
	@$(BIN)/python -m mklearn run $(STUDY) --cores $(CORES) $(if $(VERBOSE),--verbose)

failed: $(READY) ## the fits that failed, and why; then runs just those again (STUDY=FILE.yaml)
	@$(BIN)/python -m mklearn failed --run $(STUDY) --cores $(CORES)

test: $(READY) ## the tests of a commit, in five minutes; they need neither data nor network
	$(PYTEST)

test-all: $(READY) ## all tests, or TESTS=FOLDER; without mirror, Chromium, SLURM (make slurm) or docs tools (make docs) theirs skip
	$(PYTEST) -m "not benchmark" $(TESTS)

smoke: $(READY) ## one published cell of each paper, with the mirror
	$(PYTEST) -m smoke

oracle: $(READY) ## small studies of every kind against stored values, with the mirror (STORE=1: store them anew)
	$(BIN)/python tests/oracle/oracle.py $(if $(STORE),--store)

test-core: $(READY) ## unit tests of the library in a copy of the last commit without the papers
	rm -rf build/core && mkdir -p build/core
	git archive HEAD -- . ':!src/mklearn/papers' ':!tests/unit/papers' | tar -x -C build/core
	cd build/core && MKLEARN_MIRROR="$${MKLEARN_MIRROR:-$(abspath ../shared/data)}" PYTHONPATH=src \
	  $(abspath $(BIN))/python -m pytest -n auto tests/unit --ignore tests/unit/study --ignore tests/unit/test_command_line.py

lint: $(READY) ## ruff, budget, import-linter, snakefmt, snakemake --lint, mypy
	$(BIN)/python tests/budget.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/mypy
	$(BIN)/mypy --scripts-are-modules workflow/scripts/*.py

budget: $(READY) ## lower the ceilings of rooms that have become smaller, and show what each room has and may have
	$(BIN)/python tests/budget.py --lower --show

format: $(READY) ## bring the code into the house's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow

lock: $(UV) ## resolve the dependencies again: requirements.lock, envs/*
	$(UV) $(COMPILE) --upgrade --extra all --group dev pyproject.toml -o requirements.lock
	$(UV) $(COMPILE) --upgrade --extra all --extra slurm -c requirements.lock pyproject.toml -o envs/slurm.lock
	$(UV) $(COMPILE) --upgrade --extra all --extra docs -c requirements.lock pyproject.toml -o envs/docs.lock
	echo uv | $(UV) $(COMPILE) --upgrade - -o envs/bootstrap.lock
	$(PYTHON) envs/from_lock.py

schema: $(READY) ## write what follows from the code: JSON schema of study files, list of public names
	$(BIN)/python -m mklearn schema > workflow/schemas/study.schema.json
	$(BIN)/python docs/site/api_pages.py > tests/unit/public_names.txt

docs: $(DOCS) ## the documentation site: build/docs/html/index.html; its warnings are errors
	$(BIN)/python docs/site/build.py build/docs
	@echo build/docs/html/index.html

slurm: $(READY) $(UV) ## add Snakemake's executor for SLURM clusters; then: snakemake --workflow-profile workflow/profiles/slurm
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r envs/slurm.lock

plugin: $(READY) $(UV) ## install your own package for studies: make plugin DIR=FOLDER (again after .venv was made anew)
	$(if $(DIR),,$(error DIR is not set: make plugin DIR=FOLDER, with the folder of your pyproject.toml))
	$(UV) pip install -q --python $(BIN)/python -e "$(DIR)"

clean: ## remove what runs and tests have made, except downloads and the cache of descriptors, kernels and fits
	rm -rf logs .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find results -mindepth 1 -maxdepth 1 ! -name cache ! -name downloads -exec rm -rf {} + 2>/dev/null || true
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

clean-cache: clean ## remove all results and downloads, and the environment too
	rm -rf results .snakemake $(VENV) .tools

$(READY): requirements.lock pyproject.toml | $(UV)
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"mklearn needs Python >= 3.11; {sys.executable} is {v.major}.{v.minor}. Say which with: make PYTHON=/path/to/python3.12")'
	$(UV) venv -q --clear --python "$$(command -v $(PYTHON))" $(VENV)
	$(UV) pip sync -q --compile-bytecode --python $(BIN)/python --require-hashes requirements.lock
	$(UV) pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

# What the documentation site needs; its test skips without.
$(DOCS): envs/docs.lock $(READY) | $(UV)
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r envs/docs.lock
	@touch $@

# uv, from the package index that pip is set up for: works without root, without ensurepip, and where Debian marks its
# Python as externally managed.
.tools/bin/uv: | envs/bootstrap.lock
	@$(PYTHON) -m pip --version >/dev/null 2>&1 || { echo "mklearn needs pip or uv once, to make its own environment in .venv. On Debian or Ubuntu: apt install python3-pip (or install uv)."; exit 1; }
	$(PYTHON) -m pip install -q --disable-pip-version-check --root-user-action=ignore --target .tools --require-hashes -r envs/bootstrap.lock
