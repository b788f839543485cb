# SPDX-License-Identifier: Apache-2.0
#
# Recipes only call go and the commands of hack/ (go run ./hack --help).

RUNTIME ?= hookline
# Another version of upstream than that of go.mod: one of hack/targets.
TARGET ?=
# The patches to build and test: the whole series, or the small patches at its start (core).
SERIES ?= full
OTHERS := $(notdir $(patsubst %/,%,$(dir $(wildcard hack/targets/*/go.mod))))

# hack and the integration tests are built with the settings of containerd, so that they
# share compiled packages.
GO := CGO_ENABLED=0 go
RUN := $(GO) run -trimpath ./hack
HACK := $(RUN) $(if $(TARGET),--target $(TARGET)) --series $(SERIES)
ifeq ($(RUNTIME),stock)
BUILD := build --stock
else
BUILD := build
endif

# The tests with pods, a folder for each subject. They mostly wait: for timeouts, the disk, the
# kernel.
SUBJECTS := $(patsubst integration/%/main_test.go,%,$(shell grep -l 'fixture\.Main' integration/*/main_test.go))
$(if $(SUBJECTS),,$(error no folder of integration has tests with pods))
WITH_PODS := -trimpath -count=1 -p 2 -parallel 2 -timeout 30m $(addprefix ./integration/,$(SUBJECTS))

# The promises that stock breaks are listed even if no test fails: each package writes them to a
# file.
RUN_WITH_PODS = @rm -rf _output/broken && mkdir -p _output/broken; code=0; \
	TARGET=$(TARGET) RUNTIME=$(RUNTIME) $(GO) test $(WITH_PODS) $(if $(RULE),-run '^Test($(RULE))_|^TestCases/^($(RULE))_') || code=$$?; \
	find _output/broken -type f -exec sort {} + | awk '{ print } END { if (NR) print "stock breaks these " NR " promises" }'; \
	exit $$code

# The node image is built on one of kind's if a registry can be reached (BASE=debian: never).
BASE ?= auto
KIND := --base $(BASE)
# What gives the pods of the cluster their network: cni, the default, or bridge, the example plugin.
NETWORK ?=
CLUSTER := $(KIND) $(if $(NETWORK),--network $(NETWORK))

# Some targets work only on the build of the whole series.
ifneq ($(SERIES),full)
ONLY_WHOLE := $(filter test unit patched integration kind kind-image e2e node-conformance plugins peers others $(addprefix other-,$(OTHERS)),$(MAKECMDGOALS))
$(if $(ONLY_WHOLE),$(error $(ONLY_WHOLE): works only on the whole series, leave out SERIES))
endif

.DEFAULT_GOAL := help

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*## / { at = index($$2, " ("); \
		printf "  %-17s%s\n", $$1, at ? substr($$2, 1, at - 1) : $$2; if (at) printf "  %-17s%s\n", "", substr($$2, at + 1) }' $(MAKEFILE_LIST)

##@ Build and look

.PHONY: build
build: ## build containerd, ctr and containerd-shim-runc-v2 into _output/bin (RUNTIME=stock: unpatched, into _output/stock/bin; SERIES=core: only the core, into _output/core/bin; TARGET=v2.3.7: that version, into _output/targets)
	@$(HACK) $(BUILD)

.PHONY: both
both: ## build hookline and stock, to compare them or to move a node between them
	@$(HACK) build
	@$(HACK) build --stock

.PHONY: all-builds
all-builds: both ## build hookline, stock and the core
	@$(RUN) $(if $(TARGET),--target $(TARGET)) --series core build

.PHONY: tools
tools: ## build runc and the CNI plugins into _output/tools/bin, from their modules
	@$(RUN) tools

.PHONY: installer
installer: ## build hookline-install into _output/tools/bin: it puts a build or a release on a node, and removes it
	@$(RUN) installer

.PHONY: demo
demo: build tools ## run pods and four plugins on a private node; print the events and which rules hold (RUNTIME=stock: on unpatched containerd)
	@$(HACK) demo --runtime $(RUNTIME)

.PHONY: bench
bench: both tools ## measure stock and hookline side by side: a table with ratios, their confidence, and goals (root; BENCH="--only life" for one scenario)
	@$(HACK) bench $(BENCH)

##@ A cluster of kind

.PHONY: kind-image
kind-image: build tools ## make a node image for kind with this containerd (BASE=debian: without a registry)
	@$(HACK) kind-image $(KIND)

.PHONY: kind
kind: build tools ## make a cluster of that image, a control plane and a worker, and print how to reach it (NETWORK=bridge: without CNI)
	@$(HACK) kind $(CLUSTER)

.PHONY: kind-delete
kind-delete: ## remove the cluster, its image, and the Docker engine if make kind started it
	@$(HACK) kind --delete

.PHONY: e2e
e2e: both tools ## run the end-to-end tests on a cluster of kind (E2E="-v -run L23")
	@$(HACK) e2e $(CLUSTER) -- $(E2E)

.PHONY: node-conformance
node-conformance: both tools ## run Kubernetes' node conformance tests on hookline and on stock (NODETESTS="--limit 30m")
	@$(HACK) node-conformance $(NODETESTS)

##@ Test hookline

.PHONY: test
ifeq ($(RUNTIME),stock)
test: all-builds tools
	$(RUN_WITH_PODS)
else
test: unit patched ## run everything: unit, CLI, series, upstream's unit tests, integration, and end to end if make kind made a cluster (RUNTIME=stock: list the promises that stock breaks; TARGET=v2.3.7: all on that version)
	@$(HACK) e2e --if-there
endif

# One after the other, since they share the patched trees. make -j2 test runs the unit
# tests beside them. CRITEST=no leaves out critest, whose images need Debian's packages.
.PHONY: patched
patched:
	@$(MAKE) --no-print-directory -j1 check upstream-test core integration
	@$(if $(filter no,$(CRITEST)),,$(HACK) critest --quick --if-possible)

# The modules for plugin authors. They are tested with the modules of our go.mod, and each alone
# with the lowest Go and the lowest modules that its own go.mod allows.
PUBLIC := plugin podresources podstate updates

# The packages that start goroutines or take locks and have tests of their own, which the
# fixtures of the tests with pods do not have.
CONCURRENT := ./internal/cri/... ./internal/nri/lifecycle ./internal/nri/missed ./internal/progress ./internal/tree

.PHONY: unit
unit: ## run unit, edit and CLI tests; with the race detector for concurrent packages
	go test -race -timeout 30m $(CONCURRENT) $(PUBLIC:%=github.com/hookline-nri/hookline/%/...)
	$(GO) test -trimpath -timeout 30m $$(go list ./... | grep -vxF -e "$$(go list $(addprefix ./integration/,$(SUBJECTS)) ./integration/clients ./integration/moby ./integration/others $(CONCURRENT))")
	$(GO) test -C cmd/hookline-install -trimpath ./...
	set -e; for m in $(PUBLIC); do GOTOOLCHAIN=go$$(awk '$$1 == "go" { print $$2 }' $$m/go.mod) $(GO) test -C $$m ./...; done

.PHONY: core
core: ## check only the core: every patch of it, and upstream's unit tests with it
	@$(MAKE) --no-print-directory -j1 check upstream-test SERIES=core

FUZZTIME ?= 30s

.PHONY: fuzz
fuzz: ## search for input that breaks a decoder (FUZZTIME=10m each)
	go test -C podresources -run '^$$' -fuzz '^FuzzR4_Decode$$' -fuzztime $(FUZZTIME) ./internal/cri/podresources
	go test -C podresources -run '^$$' -fuzz '^FuzzR4_FromAnnotation$$' -fuzztime $(FUZZTIME) ./internal/cri/podresources
	go test -C podstate -run '^$$' -fuzz '^FuzzGet$$' -fuzztime $(FUZZTIME) ./internal/nri/podstate
	go test -C updates -run '^$$' -fuzz '^FuzzAsked$$' -fuzztime $(FUZZTIME) ./internal/nri/acknowledge
	go test -run '^$$' -fuzz '^FuzzJoin$$' -fuzztime $(FUZZTIME) ./internal/nri/lifecycle
	go test -run '^$$' -fuzz '^FuzzEdit$$' -fuzztime $(FUZZTIME) ./internal/edit

PLAYS ?= 100000

.PHONY: search
search: ## run random plays of plugins, pods and a runtime against the engine, with the race detector (PLAYS=1000000)
	go test -race -timeout 0 -run '^Test(Harsh)?Contract(OfOtherRuntimes|WithYields)?$$' ./internal/nri/lifecycle -rapid.seed 0 -rapid.checks $(PLAYS)

.PHONY: check
check: ## check that every patch applies, compiles, is clean, and exports to the same tree
	@$(HACK) check

.PHONY: update
update: ## check, and renew series.golden and the tables of the documents
	@$(HACK) check --update

.PHONY: groups
groups: ## check each pull request of docs/upstreaming.md alone: it applies, compiles, and passes the tests that it brings
	@$(HACK) check --groups

.PHONY: upstream-checks
upstream-checks: ## run upstream's linters and other checks on the patched trees
	@$(HACK) upstream-checks

.PHONY: upstream-test
upstream-test: ## run upstream's own unit tests of the touched packages, on the patched trees
	@$(HACK) test

.PHONY: integration
integration: all-builds tools ## run the tests with real pods on the built containerd (root; RULE=L9 for the tests of a rule)
	$(RUN_WITH_PODS)

# The promises that differences between versions could break: which plugins receive an end, also
# after a restart, that nothing is left behind, and that pods move to stock and back.
OTHER_TESTS := ^Test(L1|L2|L5|L8|L9|L23)_|^TestCases$$/^(L1|L2|L3|L8|L9|L15|L18)_

.PHONY: others
others: $(addprefix other-,$(OTHERS)) ## run the core of the tests on the other supported versions

.PHONY: $(addprefix other-,$(OTHERS))
$(addprefix other-,$(OTHERS)): other-%: tools
	@$(RUN) --target $* check --last
	@$(RUN) --target $* test
	@$(RUN) --target $* --series core check --last
	@$(RUN) --target $* --series core build
	@$(RUN) --target $* build
	@$(RUN) --target $* build --stock
	TARGET=$* $(GO) test $(WITH_PODS) -run '$(OTHER_TESTS)'

##@ Test against the contract, and with software of others

.PHONY: conformance
conformance: build tools ## run the conformance test on a private node of hookline, with reports in _output/conformance (root; CONFORMANCE="--repeat 20")
	@$(HACK) conformance $(CONFORMANCE)

.PHONY: ladder
ladder: tools ## run the conformance test after each pull request, which takes hours (root; LADDER="--parallel 4", SERIES=core for those of the core)
	@$(HACK) ladder $(LADDER)

.PHONY: critest
critest: both tools ## run Kubernetes' conformance test of CRI on stock and hookline; fails on any regression (root; CRITEST="--write FILE")
	@$(HACK) critest $(CRITEST)

.PHONY: peers
peers: tools ## run CRI-O and moby with the released NRI and with the patched one; fails on any regression (root; PEERS="--only crio --write FOLDER")
	@$(HACK) build --stock
	@$(HACK) peers $(PEERS)

.PHONY: clients
clients: both tools ## run docker, nerdctl, crictl and ctr on stock and hookline; fails on any difference that is no improvement (root; CLIENTS="--write FILE")
	@$(HACK) clients $(CLIENTS)

.PHONY: upstream-suite
upstream-suite: both tools ## run containerd's own tests of a running containerd on stock and hookline; fails on any regression (root; SUITE="--run REGEXP")
	@$(HACK) upstream-suite $(SUITE)

.PHONY: plugins
plugins: both tools ## run NRI plugins of other projects on stock and hookline; all must work on hookline (root; PLUGINS="--run dranet")
	@$(HACK) plugins $(PLUGINS)

##@ Release and maintain

.PHONY: export
export: ## write the series as files for git am into _output/series
	@$(HACK) export

.PHONY: release
release: ## make archives for linux amd64 and arm64 with checksums and SBOM in _output/release (RELEASE=--twice: make them twice and compare)
	@$(HACK) release $(RELEASE)
	@$(if $(TARGET),,set -e; for t in $(OTHERS); do $(RUN) --series $(SERIES) --target $$t release $(RELEASE); done)

.PHONY: lint
lint: ## run gofmt, go vet and golangci-lint with the import rules, and check the words of texts and names
	@$(HACK) lint

.PHONY: alerts
alerts: ## test the alerts for Prometheus: each fires for its series, and none while nothing happens (the first run builds promtool)
	@$(HACK) alerts

.PHONY: diagrams
diagrams: ## render docs/diagrams/*.d2, with the d2 that hack/tools/diagrams pins
	@$(HACK) diagrams

.PHONY: proto
proto: ## generate the Go code of our protobuf messages, with the compiler that hack/tools/proto pins
	@go run -C hack/tools/proto . podresources internal/cri/podresources/resources.proto
	@go run -C hack/tools/proto . plugin podnetwork/podnetwork.proto
