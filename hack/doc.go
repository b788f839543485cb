// SPDX-License-Identifier: Apache-2.0

// Command hack is the tool around the patch series: it applies the patches to
// the pinned upstream modules, builds the result, checks it and exports it.
//
//	go run ./hack list [--markdown]       the patches: name, status, rules, why
//	go run ./hack apply                   the modules as git repositories, a commit per patch
//	go run ./hack build [--stock]         the binaries, patched or as upstream has them
//	go run ./hack diff PATCH              what a patch changes
//	go run ./hack check [--update]        each commit compiles, the export applies, tables are up to date
//	go run ./hack test [PKG...]           upstream's own tests on the patched trees
//	go run ./hack export [--signoff] [-o] mail for git am, per module
//	go run ./hack bump MODULE@VERSION     which patches fit another version, and whether that works
//	go run ./hack release [--twice]       archives that people can install, checksums, SBOM
//	go run ./hack install --root DIR      a build beside a distribution's containerd, and back
//	go run ./hack tools                   runc and CNI plugins, for tests and demo
//	go run ./hack demo [--runtime stock]  pods and plugins on a private node
//	go run ./hack conformance             the conformance test on a private node
//	go run ./hack ladder                  the same after each pull request, one after the other
//	go run ./hack critest                 Kubernetes' conformance test of CRI, on stock and patched
//	go run ./hack peers                   CRI-O and moby, with the released NRI and with the patched one
//	go run ./hack upstream-suite          containerd's own tests of a running containerd, on both
//	go run ./hack plugins                 NRI plugins of others, on both
//	go run ./hack clients                 docker, nerdctl, crictl and ctr, on both
//	go run ./hack bench [--only SCENARIO] stock and patched containerd, measured side by side
//	go run ./hack kind-image              a node image for kind with the build, also without a registry
//	go run ./hack kind [--delete]         a cluster of it
//	go run ./hack e2e                     end-to-end tests on a cluster
//	go run ./hack node-conformance        Kubernetes' node conformance tests, on the build and on stock
//	go run ./hack lint                    gofmt, vet and golangci-lint on this repository
//	go run ./hack diagrams                the pictures of the documentation
//
// With --target VERSION before the command, it is about another version upstream, one of
// those in hack/targets, and about what is built of that. With --series core it is about
// the small patches that the series begins with alone.
//
// Results go to _output below the root of the repository, or to the folder of
// --output. A command that needs the patched trees first updates them to the series,
// which is fast where nothing changed; two such runs in one folder are refused.
// Results go to stdout, progress to stderr; a failure is a message and exit code 1.
//
// There is one file per command. It reads arguments and prints; the work with git and
// the go command belongs to internal/tree.
package main
