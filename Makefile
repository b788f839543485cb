# SPDX-License-Identifier: Apache-2.0
#
# Recipes only call go and the commands of hack/ (go run ./hack --help).

RUNTIME ?= hookline

# hack and the integration tests are built as containerd is, so that they share
# what they have in common.
GO := CGO_ENABLED=0 go
HACK := $(GO) run -trimpath ./hack
ifeq ($(RUNTIME),stock)
BUILD := build --stock
else
BUILD := build
endif

# Tests with pods wait more than they work: for timeouts, the disk, the kernel.
SIDE_BY_SIDE := -parallel 4

.DEFAULT_GOAL := help

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / && !seen[$$1]++ { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## containerd, ctr and containerd-shim-runc-v2 in _output/bin (RUNTIME=stock: unpatched, in _output/stock/bin)
	@$(HACK) $(BUILD)

.PHONY: both
both: ## hookline and stock, for what compares them or moves a node from one to the other
	@$(HACK) build
	@$(HACK) build --stock

.PHONY: tools
tools: ## runc and the CNI plugins in _output/tools/bin, from their modules
	@$(HACK) tools

.PHONY: demo
demo: build tools ## watch pods and plugins on a private node, and which rules hold (RUNTIME=stock: on unpatched containerd)
	@$(HACK) demo --runtime $(RUNTIME)

.PHONY: bench
bench: both tools ## stock and patched side by side, a table with ratios, their confidence, and goals (root; BENCH="--only run" for one scenario)
	@$(HACK) bench $(BENCH)

.PHONY: test
ifeq ($(RUNTIME),stock)
test: both tools ## everything: unit, CLI, series, upstream's unit tests, integration (RUNTIME=stock: lists what stock breaks)
	RUNTIME=stock $(GO) test -C integration -trimpath -count=1 $(SIDE_BY_SIDE) -timeout 30m
else
test: unit patched ## everything: unit, CLI, series, upstream's unit tests, integration (RUNTIME=stock: lists what stock breaks)
endif

# One after the other, since they share the patched trees. make -j2 test runs the unit
# tests beside them.
.PHONY: patched
patched:
	@$(MAKE) --no-print-directory -j1 check upstream-test integration

# The packages that start goroutines or take locks, and what is tested of them by
# itself: the fixtures of the tests with pods are not.
CONCURRENT := ./internal/cri/... ./internal/nri/lifecycle ./internal/progress ./internal/tree

.PHONY: unit
unit: ## unit, edit and CLI tests; with the race detector where there is more than one goroutine
	go test -race -timeout 30m $(CONCURRENT)
	$(GO) test -trimpath -timeout 30m $$(go list ./... | grep -vxF -e "$$(go list ./integration $(CONCURRENT))")

FUZZTIME ?= 30s

.PHONY: fuzz
fuzz: ## search for input that breaks a decoder (FUZZTIME=10m each)
	go test -run '^$$' -fuzz '^FuzzR4_Decode$$' -fuzztime $(FUZZTIME) ./internal/cri/podresources
	go test -run '^$$' -fuzz '^FuzzR4_FromAnnotation$$' -fuzztime $(FUZZTIME) ./internal/cri/podresources
	go test -run '^$$' -fuzz '^FuzzGet$$' -fuzztime $(FUZZTIME) ./internal/nri/podstate
	go test -run '^$$' -fuzz '^FuzzJoin$$' -fuzztime $(FUZZTIME) ./internal/nri/lifecycle
	go test -run '^$$' -fuzz '^FuzzEdit$$' -fuzztime $(FUZZTIME) ./internal/edit

.PHONY: check
check: ## every patch applies, compiles, is clean, and exports to the same tree
	@$(HACK) check

.PHONY: upstream-test
upstream-test: ## upstream's own unit tests of the touched packages, on the patched trees
	@$(HACK) test

.PHONY: integration
integration: both tools ## real pods on the built containerd (root)
	RUNTIME=$(RUNTIME) $(GO) test -C integration -trimpath -count=1 $(SIDE_BY_SIDE) -timeout 30m

.PHONY: export
export: ## the series as files for git am, in _output/series
	@$(HACK) export

.PHONY: lint
lint: ## gofmt, go vet and golangci-lint, the import rules included
	@$(HACK) lint

.PHONY: diagrams
diagrams: ## render docs/diagrams/*.d2, with d2 as hack/tools/diagrams pins it
	@$(HACK) diagrams

.PHONY: proto
proto: ## generate the Go code of our protobuf messages, with the compiler that hack/tools/proto pins
	@go run -C hack/tools/proto . internal/cri/podresources/resources.proto
