# SPDX-License-Identifier: Apache-2.0
#
# Recipes only call go and the commands of hack/ (go run ./hack --help).

RUNTIME ?= hookline

# Built as containerd is, so that the two share what they have in common.
HACK := CGO_ENABLED=0 go run -trimpath ./hack
ifeq ($(RUNTIME),stock)
BUILD := build --stock
else
BUILD := build
endif

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
	RUNTIME=stock go test -C integration -count=1 -timeout 30m
else
test: unit check upstream-test integration ## everything: unit, CLI, series, upstream's unit tests, integration (RUNTIME=stock: lists what stock breaks)
endif

.PHONY: unit
unit: ## unit, edit and CLI tests with the race detector
	go test -race -timeout 30m $$(go list ./... | grep -v /integration$$)

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
	RUNTIME=$(RUNTIME) go test -C integration -count=1 -timeout 30m

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
