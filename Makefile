# make setup   a virtual environment of its own in .venv, with everything the project needs; compiles the kernels
# make test    all tests            make golden  those that compare with reference values
# make quick   40 seconds of tests: those that are nearest to what differs from main
# make check   lint, format, types, floors      make docs  pages and charts drawn from code and figures, and the site
# make audit   hold every installed package against the hashes in .ci      make lock  write these anew
# make replay  install pywb and a browser, and have both replay what was archived; skipped by make test until then
# make look    the same browser goes through every page of `evercrawl serve`, beside a crawl of strange pages, and
#              reads pages that scripts build, and those that harm a browser
# make scripts  check the types of the server's scripts and lint them; needs Node, which nothing else does
# make screenshots  the pictures of docs/guide/SERVER.md, of the server beside the demonstration
# make demo    crawl a small living web on this machine, and compare what was learned with the truth
# make serve   the same living web for ten minutes, with the crawl in a browser: open the link that it prints
# make unchanged  whether worlds, golden tests, demonstration and questions give what they gave (bench/unchanged.py)
# make figures  every table of policies in full, hours of it, and on from where it was (bench/regenerate.py HISTORIES=folder)
# make wheels  the wheels of both kinds of machine, with the inner loops compiled, in dist/
# make fuzz    every reader of foreign bytes, and every file of a crawl directory, for eight hours (bench/fuzz.py)
# make soak    live 2,000 made-up worlds, and hold the crawler to its promises in each; crawl 20,000 pages of random bytes,
#              5,000 in random frames; live a world with kernels that numba compiles for the process
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input

.PHONY: figures wheels setup audit lock test quick golden replay look scripts screenshots check lint floors mypy pyright docs demo serve unchanged fuzz soak clean

setup: .venv/ready

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) install --upgrade pip
	$(BIN)/python .ci/lock.py install
	PYTHONWARNINGS=ignore $(PIP) install --editable '.[dev]'
	$(BIN)/python -c 'import evercrawl.crawl.session; from evercrawl.kernels import warm; warm(2)'
	@touch $@

test: setup
	$(BIN)/python -m pytest -q -m "not soak" --numprocesses logical --dist worksteal

quick: setup
	PYTHONPATH=tests/helpers $(BIN)/python -m pytest -q -m "not soak" -p changed --numprocesses logical --maxschedchunk 4

golden: setup
	$(BIN)/python -m pytest -q -m golden

replay: setup
	.ci/replay
	REPLAY_TESTS=required $(BIN)/python -m pytest -q -m browser tests/live

figures: setup
	$(BIN)/python bench/regenerate.py $(HISTORIES)

audit: setup
	$(BIN)/python .ci/lock.py check

lock: setup
	$(BIN)/python .ci/lock.py refresh

look: setup
	.ci/replay
	LOOK_TESTS=required $(BIN)/python -m pytest -q -m browser tests/live/test_look.py tests/live/test_rendering.py

scripts:
	npx --yes --package typescript@7.0.2 tsc --project .ci/tsconfig.json
	npx --yes @biomejs/biome@2.6.8 lint --config-path=.ci --error-on-warnings evercrawl/serve/static/js

screenshots: setup
	.ci/replay
	$(BIN)/python bench/screenshots.py

check: setup
	@$(MAKE) --no-print-directory --jobs 2 --keep-going --output-sync=target lint floors mypy pyright

lint floors mypy pyright: setup

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

floors:
	$(BIN)/lint-imports

mypy:
	$(BIN)/mypy

pyright:
	$(BIN)/pyright

docs: setup
	$(BIN)/python docs/pages.py
	$(BIN)/python docs/charts.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --config-file distribution/site/mkdocs.yml
	@echo "the site is in build/site: open build/site/index.html"

demo: setup
	$(BIN)/evercrawl demo

wheels: setup
	$(PIP) wheel --no-deps --wheel-dir dist -C machine=x86_64 .
	$(PIP) wheel --no-deps --wheel-dir dist -C machine=aarch64 .

unchanged: setup
	$(BIN)/python bench/unchanged.py

serve: setup
	$(BIN)/evercrawl demo --serve --seconds 10m --pages 600 --worlds 1

fuzz: setup
	$(BIN)/python bench/fuzz.py --hours 8

soak: setup
	$(BIN)/evercrawl lab simulate --seed 1 --worlds 2000 --resume .soak/worlds.jsonl
	$(BIN)/python bench/parted.py --seed 1 --worlds 500 --resume .soak/parted.jsonl
	$(BIN)/python bench/parted.py --seed 1 --worlds 500 --kept --resume .soak/kept.jsonl
	$(BIN)/python bench/parted.py --seed 1 --worlds 200 --backed-up --resume .soak/backed-up.jsonl
	$(BIN)/python bench/fuzz_crawl.py --visits 20000
	$(BIN)/python bench/fuzz_frames.py --visits 5000
	$(BIN)/python bench/jit.py
	$(BIN)/python -m pytest -q -m soak --numprocesses logical --dist worksteal

clean:
	rm -rf .soak .venv .venv-replay build dist *.egg-info .pytest_cache .hypothesis .ruff_cache .mypy_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
