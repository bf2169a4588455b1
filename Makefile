# `make audit` and `make test` need only python3 (3.11 or newer), python3-venv and make: each makes .venv first.

PYTHON ?= python3
# Further arguments of the command: make test ARGS="-k noise", make lock ARGS=--upgrade
ARGS ?=

python := .venv/bin/python
one_thread := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Commands that tests start are compiled once, whatever the caller's environment says.
compiled := PYTHONDONTWRITEBYTECODE=
# Files are handed out in the order of conftest.py, the longest first.
two_processes := -n 2 --dist loadfile --no-loadscope-reorder
pip_install := $(python) -m pip install -qq --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: audit claims proofs validity test coverage lint docs bench soak peers lock clean help

audit: .venv/ready ## the main job: audit every mechanism on the embedded data
	@$(python) -m audit.epsilon_estimate $(ARGS)

claims: .venv/ready ## decide every claim of the paper by a program
	@$(python) -m audit claims $(ARGS)

proofs: .venv/ready ## compile the machine-checked proofs and compare them with what is committed (needs coqc)
	@$(python) -m audit proofs $(ARGS)

validity: .venv/ready ## audit the auditor on mechanisms whose loss is known (a quarter of an hour or more)
	@$(one_thread) $(python) -m audit validity $(ARGS)

test: .venv/ready ## all tests and checks, on two cores
	@$(one_thread) $(compiled) $(python) -m pytest $(two_processes) tests audit $(ARGS)

coverage: .venv/ready ## branch coverage of reference/ by tests/
	@$(one_thread) $(compiled) $(python) -m pytest $(two_processes) --cov --cov-report=term tests $(ARGS)

lint: .venv/ready ## style, format, types, and who imports whom
	@$(python) -m ruff check .
	@$(python) -m ruff format --check .
	@$(python) -m mypy --strict reference audit
	@.venv/bin/lint-imports --no-logo

docs: .venv/ready ## the book, as pages in build/book
	@$(python) -m sphinx -q -W --keep-going -c docs -b html -d build/book-trees . build/book
	@echo "open build/book/docs/index.html"

bench: .venv/ready ## timings, one BLAS thread
	@$(one_thread) $(python) -m tests.benchmarks $(ARGS)
	@$(one_thread) $(python) -m tests.benchmarks.auditor $(ARGS)
	@$(one_thread) $(python) -m tests.benchmarks.anytime

soak: .venv/ready ## the lengthy tests, then an hour of spoiled input, killed commands and changed code; a stopped run goes on
	@$(one_thread) $(python) -m pytest -m lengthy tests audit
	@$(one_thread) $(python) -m tests.soak $(ARGS)
	@$(one_thread) $(python) -m tests.soak.mutants

peers: .venv-peers/ready ## compare with other libraries, in an environment of their own (large)
	@$(one_thread) .venv-peers/bin/python -m pytest tests/peers audit/gate/subjects/test_adapters.py $(ARGS)

lock: ## renew requirements.lock after a change of pyproject.toml (ARGS=--upgrade: newest versions)
	@set -e; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	$(PYTHON) -m venv "$$scratch"; \
	"$$scratch/bin/python" -m pip install --quiet --disable-pip-version-check uv; \
	"$$scratch/bin/uv" pip compile pyproject.toml --group build --extra test --extra lint \
	    --universal --no-strip-extras --fork-strategy fewest --python-version 3.11 --generate-hashes --quiet \
	    --custom-compile-command "make lock" --output-file requirements.lock $(ARGS)

clean: ## remove both environments, caches and build products
	@rm -rf .venv .venv-peers build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.* htmlcov
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# Each stamp is written last: a .venv without it is made afresh.
.venv/locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "making .venv from requirements.lock (takes a minute or two)"
	@rm -rf .venv
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	    echo "$(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@$(pip_install) --require-hashes -r requirements.lock
	@touch $@

.venv-peers/ready: pyproject.toml
	@echo "making .venv-peers (takes several minutes)"
	@rm -rf .venv-peers
	@$(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install -qq --disable-pip-version-check --no-input -e '.[peers,test]'
	@touch $@

.venv/ready: .venv/locked pyproject.toml
	@$(pip_install) --no-deps --no-build-isolation -e .
	@touch $@
