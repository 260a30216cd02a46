# Shorthands for people who work on kedge; README's two lines need no make.
.PHONY: install test examples lint types bench figures cards
VENV ?= .venv
BIN = $(VENV)/bin

install:  ## an editable install with the tests' and linters' needs
	python3 -m venv $(VENV)
	$(BIN)/pip install -e '.[dev]'

test:
	$(BIN)/pytest

examples:  ## a game of another package, and its tests
	$(BIN)/pip install -q ./examples/connect_four
	$(BIN)/pytest examples/connect_four

lint:
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types:
	$(BIN)/mypy
	$(BIN)/lint-imports

bench:
	$(BIN)/pip install -q -e '.[dev,bench]'
	$(BIN)/python benchmarks/regret.py
	$(BIN)/python benchmarks/puct.py
	$(BIN)/python benchmarks/web.py
	$(BIN)/python benchmarks/chess_rules.py
	$(BIN)/python benchmarks/go.py
	$(BIN)/python benchmarks/hanabi.py
	$(BIN)/python benchmarks/records.py

cards:  ## the figures on the models' cards, measured again (KEDGE_DATA; a quarter of an hour)
	$(BIN)/python docs/check_cards.py

figures:  ## rebuild the committed results
	$(BIN)/python docs/make_results.py
