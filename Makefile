# Verbs of Fathom; `make` alone lists them. Every verb sets up what it needs first, and only once.
PYTHON ?= python3
PY := .venv/bin/python
SETUP := "$(PYTHON)" launch/bootstrap.py
export ONCE JSON PORT FILE LAB DATA README
# Where nothing that was compiled is kept, each of the many processes compiles all of it again: a second of a core.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo serve backup restore test soak again lint format bench truth lab messages screenshots lock clean
.DEFAULT_GOAL := help

help:  ## list the verbs
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 14

demo:  ## measure a sample campaign, show it, keep serving (ONCE=1 stops afterwards)
	@$(SETUP) demo
	@$(PY) -m launch demo

serve:  ## start the service (PORT=8000; LAB=lab/storage.yaml: with emulated sites and their agents); Ctrl-C stops it
	@$(SETUP) serve
	@$(PY) -m launch serve

backup:  ## write the database, the secret and what waits to be imported to FILE, beside the running service or without it
	@$(SETUP) serve
	@$(PY) -m launch backup

restore:  ## put the backup FILE in the place of what is there, while the service is stopped: all of it, or nothing
	@$(SETUP) serve
	@$(PY) -m launch restore

test:  ## run all tests, against real servers and real tools
	@$(SETUP) test
	@$(PY) -m pytest --workers 5 --durations=20

soak:  ## run all tests: of long walks and of dear files `make test` takes another part each day
	@$(SETUP) test
	@FATHOM_TURN=all $(PY) -m pytest --workers 5 --durations=20

again:  ## run once more, one after the other, the tests that failed last, and name those that pass now
	@$(SETUP) test
	@$(PY) -m pytest --last-failed --last-failed-no-failures none -rp

lint:  ## check style, types, migrations and settings
	@$(SETUP) lint
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m djhtml --tabwidth 2 --check templates
	$(PY) -m mypy
	$(PY) -m launch check

format:  ## rewrite the code in the project's format
	@$(SETUP) lint
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	$(PY) -m djhtml --tabwidth 2 templates

bench:  ## measure Fathom itself (JSON=file writes the figures too)
	@$(SETUP) bench
	@$(PY) -m benchmarks

truth:  ## judge what Fathom says of 2,000 simulated worlds whose truth is known (docs/truth.md)
	@$(SETUP) bench
	@$(PY) -m benchmarks truth

lab:  ## build emulated sites and hold them up until Ctrl-C (root; FILE=lab/knu-caltech.yaml for another)
	@$(SETUP) lab
	@$(PY) -m lab up "$(or $(FILE),lab/kisti-pusan.yaml)" --hold

messages:  ## collect the texts to translate into locale/ (needs GNU gettext)
	@$(SETUP) lint
	@$(PY) -m launch messages
	@$(SETUP) lint

screenshots:  ## make the pictures of every page, in var/screenshots (README=1: README's too)
	@$(SETUP) test
	@$(PY) -m launch.screenshots

lock:  ## pin the newest allowed versions, with hashes
	$(PY) -m uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header requirements/base.in -o requirements/base.txt
	$(PY) -m uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header requirements/dev.in -o requirements/dev.txt

clean:  ## remove what was installed here (DATA=1: the service's data in var/ too)
	rm -rf .venv node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
	@if [ "$(DATA)" = 1 ]; then rm -rf var; else echo "The data in var/ stays; make clean DATA=1 removes it."; fi
