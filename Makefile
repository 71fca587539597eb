# Every target sets itself up: a virtual environment in .venv, made anew when pyproject.toml changes.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

# Hundreds of processes are started here: where no bytecode is kept, each takes a third longer to start.
export PYTHONDONTWRITEBYTECODE :=

# One environment a library: some overwrite each other's files, tmu needs NumPy 1, pytsetlin another numba (and
# so other kernels). What a library does not bring is taken from .venv.
PEERS := tmu pytsetlinmachine pytsetlinmachineparallel green pytsetlin

.PHONY: help demo studio test test-deep test-docs test-report test-studio test-interop test-bnn experiments lint bench bench-startup bench-training bench-tables bench-recourse bench-explanations bench-properties bench-studio bench-verification bench-certificates bench-networks clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 16

demo: $(READY)  ## a tour in a minute: train on digits, then prove what flipped pixels can do
	$(BIN)/python examples/demo.py

studio: $(READY)  ## look at the demo's digits in a browser: decisions, changes, proofs (Ctrl-C ends it)
	@[ -f build/demo/digits.tm ] || $(BIN)/python examples/demo.py --only-train build/demo
	$(BIN)/tmverify studio build/demo/digits.tm --data build/demo/digits-test.npz

test: $(READY)  ## lint, types and tests, some five minutes on two cores
	@$(BIN)/python tests/warm_up.py & warming=$$!; \
	  $(MAKE) --no-print-directory lint; linted=$$?; wait $$warming; exit $$linted
	$(BIN)/pytest -n 3 --dist worksteal -m "not deep"  # some tests wait, others work

test-deep: $(READY)  ## the thorough runs: tens of thousands of random cases and files (an hour or more on two cores)
	$(BIN)/pytest -n 2 --dist worksteal -m deep

test-docs: $(READY)  ## the README's examples, as printed, half a minute
	$(BIN)/pytest tests/docs

test-report: browser-tests  ## the HTML report in a real browser (as root, installs Debian's chromium if it is missing)
	$(BIN)/pytest -rs tests/browser/test_report_in_browser.py

test-studio: browser-tests  ## the studio in a real browser, as its users use it
	$(BIN)/pytest -rs tests/browser/test_studio_in_browser.py

.PHONY: browser-tests
browser-tests: $(READY)
	@if ! command -v chromedriver >/dev/null && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  { apt-get update -qq && apt-get install -y -qq chromium chromium-driver; } >/dev/null 2>&1 || \
	    echo "chromium can't be installed here; the tests will be skipped"; \
	fi
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[browser]'

test-interop: $(READY)  ## other libraries' models, other solvers' formats (as root, installs cadical and iverilog; needs gcc)
	@for tool in cadical iverilog; do \
	  if ! command -v $$tool >/dev/null && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	    { apt-get update -qq && apt-get install -y -qq $$tool; } >/dev/null 2>&1 || \
	      echo "$$tool can't be installed here; its tests will be skipped"; \
	  fi; \
	done
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[solvers]'
	$(BIN)/pytest -n 2 --dist worksteal tests/interop/test_[!f]*.py
	$(MAKE) --no-print-directory --output-sync -j 2 $(PEERS:%=interop-%)

interop-%: build/interop/%/.ready
	$(if $(filter pytsetlin,$*),NUMBA_CACHE_DIR=build/interop/kernels) build/interop/$*/bin/python -m pytest -W default \
	  --disable-warnings tests/interop/test_from_*.py tests/interop/test_interop_page.py

test-bnn: build/bnn/.ready  ## training binarized networks with PyTorch, in an environment of its own
	build/bnn/bin/python -m pytest tests/bnn

experiments: $(READY)  ## the paper's tables (TMVERIFY_DATA; an hour or two, most of it training; resumable)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[experiments,bnn]'
	for table in training_tables robustness_mnist robustness_imdb similarity_imdb accuracy_mnist_c \
	  robustness_back_image radius_published_networks results_page; do $(BIN)/python experiments/$$table.py || exit 1; done

lint: $(READY)  ## ruff, mypy --strict, import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## measure (needs no data; set TMVERIFY_DATA for the MNIST model)
	$(BIN)/python benchmarks/engines.py
	$(BIN)/python benchmarks/encodings.py

bench-startup: $(READY)  ## measure start-up, before and after (some minutes)
	$(BIN)/python benchmarks/startup.py

bench-training: $(READY)  ## measure training against other libraries (TMVERIFY_DATA, gcc; an hour or more)
	$(BIN)/python benchmarks/training.py

bench-tables: $(READY)  ## measure the default classifier beside scikit-learn's (TMVERIFY_DATA; some minutes)
	$(BIN)/python benchmarks/tables.py

bench-recourse: $(READY)  ## measure nearest changes beside DiCE, NICE and treecf (TMVERIFY_DATA; a quarter of an hour)
	$(BIN)/python benchmarks/recourse.py

bench-explanations: $(READY)  ## measure reasons, beside the loop over robustness and PyXAI (TMVERIFY_DATA; an hour after training)
	$(BIN)/python benchmarks/explanations.py

bench-properties: $(READY)  ## measure fairness and monotonicity on tables (TMVERIFY_DATA; a quarter of an hour)
	$(BIN)/python benchmarks/properties.py

bench-studio: $(READY)  ## measure what a person waits for at the studio (TMVERIFY_DATA; some minutes after training)
	$(BIN)/python benchmarks/studio.py

bench-verification: $(READY)  ## measure verification on MNIST and IMDB (TMVERIFY_DATA; about an hour with training)
	$(BIN)/python benchmarks/verification.py

bench-certificates: $(READY)  ## measure certificates on MNIST and IMDB (TMVERIFY_DATA; about an hour after training)
	$(BIN)/python benchmarks/certificates.py

bench-networks: $(READY)  ## measure the verification of binarized networks (TMVERIFY_DATA; some minutes)
	$(BIN)/python benchmarks/networks.py

clean:  ## remove everything that make made
	rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

.PRECIOUS: build/interop/%/.ready
build/interop/%/.ready: tests/interop/libraries/%.txt $(READY)
	$(BIN)/python -m venv --clear build/interop/$*
	$(BIN)/python tests/interop/inherit.py build/interop/$*
	build/interop/$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

build/bnn/.ready: tests/bnn/requirements.txt $(READY)
	$(BIN)/python -m venv --clear build/bnn
	$(BIN)/python tests/interop/inherit.py build/bnn
	build/bnn/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "tmverify needs Python 3.11 or later; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv || { echo "No venv module: on Debian or Ubuntu, apt install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@
