# Everything starts here, on a machine with Python 3.11+ and make and nothing else.
PYTHON ?= python3
BIN := .venv/bin
# How many test processes: more than two cores, since many tests wait for a deadline or a browser; those of `make check`,
# which start no other program, one more still.
JOBS ?= 3
CHECK_JOBS ?= 4
# Where it is set, every program that the tests start would compile all that it imports anew.
unexport PYTHONDONTWRITEBYTECODE

# The uv that set-up brings where the machine has none; the statutes may need it too. Looked for when it is needed.
OWN_UV = $$(ls $(CURDIR)/.cache/uv-env/bin/uv 2>/dev/null)

# Types are checked beside the tests: without its cache mypy takes most of a minute, on one core. Where the tests drive
# browsers, which a loaded machine makes late, it takes what they leave.
BESIDE_TYPES = $(BIN)/python scripts/beside.py $(BIN)/mypy --

.DEFAULT_GOAL := help
.PHONY: help run test check lint quick-lint format wheel image bench chaos load clients docs eval setup clean

help:  ## Show what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup:  ## Install what running needs, into .venv
	@$(PYTHON) scripts/setup.py

run: setup  ## Install everything, Chinese statutes too, and serve the chat page on http://127.0.0.1:8000
	@echo; echo '$$ qiusuo legal install --yes'
	@UV="$(OWN_UV)" $(BIN)/qiusuo legal install --yes || \
	  printf '\n!! %s\n!! %s\n\n' 'The statutes could not be installed: legal questions are searched on the web only.' \
	    'Later, with a network: $(BIN)/qiusuo legal install'
	@echo; $(BIN)/qiusuo engines --short || true
	@echo; echo '$$ qiusuo serve'
	@$(BIN)/qiusuo serve

test:  ## Install everything and run all checks and tests
	@$(PYTHON) scripts/setup.py --test
	@$(MAKE) --no-print-directory quick-lint
	@$(BIN)/python scripts/beside.py nice -n 5 $(BIN)/mypy -- $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup
	@$(MAKE) --no-print-directory wheel

check:  ## Lint, and every test that starts no other program: what to run while you work
	@$(PYTHON) scripts/setup.py --check
	@$(MAKE) --no-print-directory quick-lint
	@$(BESIDE_TYPES) $(BIN)/python -m pytest -q -n $(CHECK_JOBS) --dist loadgroup -m "not programs" --hypothesis-profile=quick

lint: quick-lint  ## Format check, lint, types, generated docs
	$(BIN)/mypy

quick-lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python scripts/docs.py --check
	$(BIN)/python scripts/traditional.py --check

wheel:  ## Build the package, install it on its own and try it; says so loudly where no package index answers
	$(BIN)/python scripts/wheel.py || [ $$? -eq 3 ]

image:  ## Do what the image of deploy/Dockerfile does without Docker: build its /app, weigh it, serve from it
	$(BIN)/python scripts/image.py || [ $$? -eq 3 ]

format:  ## Format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs:  ## Write the generated docs and the words in Traditional Chinese anew
	$(BIN)/python scripts/docs.py
	$(BIN)/python scripts/traditional.py

# What is named behind it is measured alone: these words are no targets.
ifeq ($(firstword $(MAKECMDGOALS)),bench)
SUBJECTS := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
.PHONY: $(SUBJECTS)
$(SUBJECTS):
	@:
endif

bench:  ## Measure speed, side by side in one run; `make bench search` one subject of it
	@$(PYTHON) scripts/setup.py --bench
	$(BIN)/python -m bench $(SUBJECTS)

chaos:  ## Strike real servers with faults while answers stream, and tell what it has cost (about 20 minutes)
	@$(PYTHON) scripts/setup.py --chaos
	$(BIN)/python -m chaos

load:  ## Load real servers, and tell what it costs them (about 40 minutes)
	@$(PYTHON) scripts/setup.py --chaos
	$(BIN)/python -m chaos.load

clients:  ## Run other people's programs, unchanged, against a server of ours; brings each into .cache/clients
	@$(PYTHON) scripts/setup.py --check
	$(BIN)/python -m clients

eval:  ## Measure quality on labelled data
	@$(PYTHON) scripts/setup.py --test
	$(BIN)/python -m eval.citations
	$(BIN)/python -m eval.followups
	$(BIN)/python -m eval.passages
	$(BIN)/python -m eval.legal --semantic

clean:  ## Remove what was installed here
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
