# `make` alone prints what there is to do. Every target creates what it needs and says so while it takes long.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# In a network namespace of its own: two control planes on one machine would want the same ports.
APART := unshare --net sh -c 'ip link set lo up && exec "$$@"' --
# No test begins after 45 minutes, twice of what they take, so that a run that fails has an end and says why. The scenarios
# run beside each other, and the first to be waited for may be the last to end.
export SCENARIOS := $(BIN)/python -m pytest --session-timeout=2700 --timeout=2700 tests/e2e
export ALONE := $(APART) $(BIN)/python -m pytest --session-timeout=2700 --timeout=900 tests/e2e -m alone
export GATEWAYS := $(APART) $(BIN)/python -m pytest --session-timeout=2700 --timeout=900 tests/gateways
export BROUGHT := $(APART) $(BIN)/python -m pytest --session-timeout=2700 --timeout=900 tests/brought
PYTESTARGS ?=
# In as many processes as there are cores. Chosen tests run in one, which starts sooner.
WORKERS = $(if $(PYTESTARGS),,--numprocesses=auto --maxprocesses=8 --dist=loadgroup)
# Of each property in `make soak`, new ones each time.
EXAMPLES ?= 400
PYTHON ?=
REGISTRY ?=
# What `make e2e` runs beside the control planes, as NAME=COMMAND.
BESIDE ?=
CLUSTER ?=

.PHONY: help
help: ## Print these lines
	@echo "Modelplane: a control plane for AI inference over a fleet of Kubernetes GPU clusters."
	@grep -hE '^[a-z0-9]+:.*##' Makefile | sed -E 's/^([a-z0-9]+):[^#]*## ?/\1\t/' | while IFS=$$'\t' read -r name text; do printf '  make %-10s %s\n' "$$name" "$$text"; done

$(VENV)/.locked: requirements.lock
	@python=; for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11); do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python="$$candidate"; break; fi; \
	done; \
	if [ -z "$$python" ]; then echo "Modelplane needs Python 3.11 or newer, and found none on PATH." >&2; exit 1; fi; \
	echo "Creating $(VENV) from requirements.lock (once; usually half a minute) ..." >&2; \
	"$$python" -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement requirements.lock
	@touch $@

# What pyproject.toml says of the package itself is installed beside the pins, without making them anew.
$(READY): $(VENV)/.locked pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: demo
demo: $(READY) ## Place three of the example deployments on three clusters, without a cluster
	@# One is refused on purpose, which the preview's exit code 1 says.
	@$(BIN)/modelplane preview examples/fleet/classes.yaml examples/fleet/clusters-eu.yaml \
	  $(addprefix examples/deployments/,qwen3-8b.yaml qwen3-32b-disaggregated.yaml llama-4-maverick-unplaced.yaml) \
	  || [ $$? -eq 1 ]

.PHONY: test
test: $(READY) ## Run every test, the real Crossplane engine included (PYTESTARGS=... to choose)
	@$(BIN)/python -m modelplane_dev.components build crossplane cli kube network-policies
	@$(BIN)/python -m pytest $(WORKERS) $(PYTESTARGS)

.PHONY: unit
unit: $(READY) ## Run the unit tests (PYTESTARGS=... to choose)
	@$(BIN)/python -m modelplane_dev.components build cli
	@$(BIN)/python -m pytest tests/unit $(WORKERS) $(PYTESTARGS)

.PHONY: pythons
pythons: $(READY) ## Run the unit tests on another version of Python that is installed here
	@other="$$($(BIN)/python -m modelplane_dev.pythons)"; \
	$(MAKE) VENV="build/venv-$${other##*/}" PYTHON="$$other" unit

.PHONY: e2e
e2e: $(READY) ## Run Modelplane on four real control planes of local processes, two of them with real gateways
	@$(BIN)/python -m modelplane_dev.components build
	@# The gateways have no network.
	@$(BIN)/python -m modelplane_dev.components fetch
	@# The scenarios yield: the others' tests run one after the other, so that they would end last.
	@$(BIN)/python -m modelplane_dev.processes.beside "scenarios=nice -n 3 $$SCENARIOS -m 'not alone'" "alone=$$ALONE" "gateways=$$GATEWAYS" "brought=$$BROUGHT" $(BESIDE)

.PHONY: scenarios
scenarios: $(READY) ## Run `tests/e2e` on one control plane (PYTESTARGS=... to choose)
	@$(BIN)/python -m modelplane_dev.components build
	@$(SCENARIOS) $(PYTESTARGS)

.PHONY: gateways
gateways: $(READY) ## Run the tests with real gateways, as root (PYTESTARGS=... to choose)
	@$(BIN)/python -m modelplane_dev.components build
	@# The gateways have no network.
	@$(BIN)/python -m modelplane_dev.components fetch
	@$(GATEWAYS) $(PYTESTARGS)

.PHONY: brought
brought: $(READY) ## Run the tests of the serving stack on clusters that are brought, as root (PYTESTARGS=... to choose)
	@$(BIN)/python -m modelplane_dev.components build
	@$(BIN)/python -m modelplane_dev.components fetch
	@$(BROUGHT) $(PYTESTARGS)

.PHONY: soak
soak: $(READY) ## Prove at length what CI does not each time, as root; then watch a settled fleet (SOAK=... to choose)
	@$(BIN)/python -m modelplane_dev.components build
	@MODELPLANE_HYPOTHESIS_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest $(WORKERS) tests/property
	@$(BIN)/python tests/bench/run.py --only soak
	@MODELPLANE_SOAK=1 $$SCENARIOS -m 'not alone'
	@$(APART) $(BIN)/python tests/e2e/soak.py $(SOAK)

.PHONY: package
package: $(READY) ## Build the packages into dist/, to be pushed to a registry: make package REGISTRY=...
	@$(BIN)/python -m modelplane_dev.packages --registry "$(REGISTRY)"

.PHONY: up
up: $(READY) ## Run Modelplane on local processes with the example fleet, to try it with kubectl
	@$(BIN)/python -m modelplane_dev.components build crossplane cli provider-kubernetes kube kwok lws $$([ "$$(id -u)" -ne 0 ] || echo envoy-gateway)
	@$(BIN)/python -m modelplane_dev.plane.up up

.PHONY: down
down: $(READY) ## End what `make up` started
	@$(BIN)/python -m modelplane_dev.plane.up down

.PHONY: cut
cut: $(READY) ## Cut a cluster of `make up` off from the control cluster: make cut CLUSTER=us-east-1
	@$(BIN)/python -m modelplane_dev.plane.up cut "$(CLUSTER)"

.PHONY: join
join: $(READY) ## Let a cluster be reached again: make join CLUSTER=us-east-1
	@$(BIN)/python -m modelplane_dev.plane.up join "$(CLUSTER)"

.PHONY: lint
lint: $(READY) ## Check style, types and the layers of the packages
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

.PHONY: generate
generate: $(READY) ## Write the pydantic models from the XRDs in apis/, and what the pages take from the code
	@$(BIN)/python -m modelplane_dev.generate
	@$(BIN)/python -m modelplane_dev.pages

.PHONY: golden
golden: $(READY) ## Rewrite what tests compare with: manifests, output in the docs
	@$(BIN)/python -m modelplane_dev.components build crossplane cli
	@MODELPLANE_GOLDEN=write $(BIN)/python -m pytest -m golden

.PHONY: climb
climb: $(READY) ## Look for what costs a pass of each function most (CLIMB=... to choose)
	@$(BIN)/python tests/bench/climb.py $(CLIMB)

.PHONY: bench
bench: $(READY) ## Measure speed and memory, each figure beside its yardstick
	@$(BIN)/python tests/bench/run.py

.PHONY: components
components: $(READY) ## Build the real Crossplane CLI and core into a cache outside the tree
	@$(BIN)/python -m modelplane_dev.components build crossplane cli

.PHONY: render
render: $(READY) ## Compose a manifest of the examples on the real engine: make render FILE=...
	@[ -n "$(FILE)" ] || { echo "Which manifest? make render FILE=examples/..." >&2; exit 2; }
	@$(BIN)/python -m modelplane_dev.rendering $(FILE) --beside examples/

.PHONY: clean
clean: ## Remove what make created in this folder (the components' cache stays)
	@[ ! -e build/up/pid ] || $(MAKE) down
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
