# Two commands are the whole set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS := 1
# Hundreds of processes start in the tests; without bytecode each compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
# A GPU's build of torch instead of the CPU's: make UV_TORCH_BACKEND=auto demo
INSTALL := $(BIN)/python tools/install.py

.PHONY: demo test test-slow test-runtime test-live test-stack test-long retest lint lint-ruff lint-stack lint-runtime lint-imports
.PHONY: perf faults faults-long soak docs-check sidecars ros2 lock release audit clean

demo: $(VENV)/.runtime
	@$(BIN)/openral demo

# Three suites: the runtime's, which mostly waits, beside the linters; then that of what moves in real time, one test at
# a time, since a deployment takes the same share of a core for as long as its test lasts; and beside it, giving way to
# it, the stack's. All run, whatever becomes of the others; what each came to lies in .venv/.result-SUITE: pytest's exit
# code.
RUNTIME_TESTS = tests --ignore=tests/soak
LIVE_TESTS = $(addprefix tests/,$(addprefix faults/,inputs machine motion processes) fleet system robot_bridge console)
STACK_TESTS = tests $(addprefix --ignore=tests/,perf docs ros2 sidecars) $(addprefix --ignore=,$(LIVE_TESTS))
CACHE = -o cache_dir=.pytest_cache/$(1)
RESULT = $(abspath $(VENV))/.result-
# A suite that hangs is ended. One worker that dies is replaced: it runs again the test in which it died.
PYTEST = timeout --foreground --signal=INT --kill-after=60 3000 $(abspath $(BIN))/python -m pytest
AT_ONCE = --max-worker-restart=1 --dist loadfile
ALONE = -n 1 --max-worker-restart=1 --dist load

# apt fetches while uv installs.
test:
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/.dev $(VENV)/.programs
	@rm -f $(RESULT)*
	@$(MAKE) --no-print-directory --jobs=2 lint test-runtime
	@$(MAKE) --no-print-directory --jobs=2 test-live test-stack
	@! grep --line-regexp --invert-match --no-filename --quiet 0 $(RESULT)*

test-runtime:
	@cd ros2_embedded && $(PYTEST) -n 3 $(AT_ONCE) $(WHICH) $(RUNTIME_TESTS); echo $$? > $(RESULT)runtime

test-live:
	@$(PYTEST) $(call CACHE,live) $(ALONE) $(WHICH) $(LIVE_TESTS); echo $$? > $(RESULT)live

test-stack:
	@$(PYTEST) -n 3 $(AT_ONCE) --give-way 19 $(WHICH) $(STACK_TESTS); echo $$? > $(RESULT)stack

# More examples of what the quick tests show, in the same suites: CI runs them after `make test`.
test-slow: $(VENV)/.dev $(VENV)/.programs
	@rm -f $(RESULT)*
	@$(MAKE) --no-print-directory test-runtime WHICH=--slow
	@$(MAKE) --no-print-directory --jobs=2 test-live test-stack WHICH=--slow
	@! grep --line-regexp --invert-match --no-filename --quiet 0 $(RESULT)*

# What neither has time for, but for the hours of `make faults-long`.
test-long: $(VENV)/.dev $(VENV)/.programs
	@$(BIN)/python -m pytest tests --long $(addprefix --ignore=tests/,perf docs sidecars faults ros2 ecosystem)

# Once more, one at a time: the tests of a suite that failed (pytest's 1), all of one that did not come to its end.
# After `make test-slow`: make retest WHICH=--slow
CHOICE = $$(cat $(RESULT)$(1) || echo 0) in 0) ;; 1) $(2) --last-failed ;; *) $(2) ;; esac
retest: $(VENV)/.dev lint
	@case $(call CHOICE,runtime,cd ros2_embedded && $(PYTEST) $(WHICH) $(RUNTIME_TESTS))
	@case $(call CHOICE,live,$(PYTEST) $(call CACHE,live) $(WHICH) $(LIVE_TESTS))
	@case $(call CHOICE,stack,$(PYTEST) $(WHICH) $(STACK_TESTS))

# Two at a time: mypy of the stack takes as long as all the others.
lint: $(VENV)/.dev
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint-stack lint-ruff lint-runtime lint-imports

lint-ruff:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint-stack:
	$(BIN)/mypy

lint-runtime:
	cd ros2_embedded && $(abspath $(BIN))/mypy src

lint-imports:
	$(BIN)/lint-imports --no-cache

# Real upstream code in environments of its own: gigabytes and minutes the first time, then reused.
sidecars: $(VENV)/.dev
	@$(INSTALL) sidecars
	$(BIN)/python -m pytest tests/sidecars

# A real ROS 2 from the package index: openral is built by colcon, and its nodes' tests run on rclpy over Fast DDS. Where
# there is rmw_zenoh_cpp (RMW_IMPLEMENTATION, or ROS2_PREFIX=/opt/ros/jazzy), the embedded runtime meets it as well.
ros2: $(VENV)/.dev
	$(BIN)/python -m pytest tests/ros2

# The table of README.md is made of what the last run wrote.
perf: $(VENV)/.dev
	@$(INSTALL) perf
	$(BIN)/python -m pytest tests/perf -s --json tests/perf/results.json
	$(BIN)/python tools/pages/readme_tables.py

# Faults from outside on an installed deployment; docs/reliability.md shows what the last runs found.
faults: $(VENV)/.dev
	$(BIN)/python -m pytest tests/faults -s --slow --figures tests/faults/results.json
	$(BIN)/python tools/pages/reliability_table.py

# Hours: FAULTS_SOAK_S=600 FAULTS_KILLS=50 for less.
faults-long: $(VENV)/.dev
	$(BIN)/python -m pytest tests/faults -s --long --figures tests/faults/results.json
	$(BIN)/python tools/pages/reliability_table.py

# Ten minutes (SOAK_S=60 for one) of nodes that die and come back, and two hundred starts and ends.
soak: $(VENV)/.dev
	cd ros2_embedded && $(abspath $(BIN))/python -m pytest -s tests/soak
	cd ros2_embedded && SOAK_STARTS=200 $(abspath $(BIN))/python -m pytest -s tests/rclpy/test_exits.py

docs-check: $(VENV)/.dev
	$(BIN)/python -m pytest tests/docs

# Rendering without a screen needs EGL; everything else comes from pip.
$(VENV)/.system:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "openral needs Python 3.10 to 3.13: make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) tools/system_packages.py runtime
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@touch $@

# Versions and hashes are those of requirements/lock.txt.
$(VENV)/.runtime: pyproject.toml ros2_embedded/pyproject.toml requirements/lock.txt | $(VENV)/.system
	@echo "openral: installing torch, MuJoCo, MetaWorld and the rest into $(VENV) (a minute or two, once)"
	@$(INSTALL) runtime
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@echo "openral: installing what the tests need into $(VENV)"
	@$(INSTALL) dev
	@touch $@

# Programs of others that tests meet (a browser, ROS 1): tests skip where they cannot be installed.
$(VENV)/.programs: | $(VENV)/.system
	@$(PYTHON) tools/system_packages.py tests
	@touch $@

# The newest versions that pyproject.toml allows; tests say whether they do.
lock: $(VENV)/.dev
	$(BIN)/python tools/lock.py --upgrade

# Wheels, source archives, bill of materials and checksums, in dist/.
release: $(VENV)/.dev
	$(BIN)/python tools/release.py

# Known vulnerabilities of the locked versions, as PyPI knows them; a version that it does not know is an error.
audit: $(VENV)/.dev
	$(BIN)/uv tool run pip-audit --strict --disable-pip --require-hashes -r requirements/lock.txt

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
