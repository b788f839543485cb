// SPDX-License-Identifier: Apache-2.0

// Command hack is the tool around the patch series: it applies the patches to
// the pinned upstream modules, builds the result, checks it and exports it.
//
//	go run ./hack list [--markdown]       the patches: name, status, rules, reason
//	go run ./hack apply                   the modules as git repositories, a commit per patch
//	go run ./hack build [--stock]         the binaries, patched or stock
//	go run ./hack diff PATCH              the changes of a patch
//	go run ./hack check [--update]        each commit compiles, the export applies, tables are up to date
//	go run ./hack test [PKG...]           upstream's own tests on the patched trees
//	go run ./hack export [--signoff] [-o] mails for git am, by module
//	go run ./hack bump MODULE@VERSION     which patches fit another version, and whether they work
//	go run ./hack release [--twice]       archives to install, checksums, SBOM
//	go run ./hack installer               the program that puts a build or a release on a node
//	go run ./hack tools                   runc and CNI plugins, for tests and demo
//	go run ./hack demo [--runtime stock]  pods and plugins on a private node
//	go run ./hack conformance             the conformance test on a private node
//	go run ./hack ladder                  the same after each pull request, one after the other
//	go run ./hack critest                 Kubernetes' conformance test of CRI, on stock and patched
//	go run ./hack peers                   CRI-O and moby, with the released NRI and with the patched one
//	go run ./hack upstream-suite          containerd's own tests of a running containerd, on both
//	go run ./hack plugins                 NRI plugins of other projects, on both
//	go run ./hack clients                 docker, nerdctl, crictl and ctr, on both
//	go run ./hack bench [--only SCENARIO] stock and patched containerd, measured side by side
//	go run ./hack kind-image              a node image for kind with the build, also without a registry
//	go run ./hack kind [--delete]         a cluster of it
//	go run ./hack e2e                     end-to-end tests on a cluster
//	go run ./hack node-conformance        Kubernetes' node conformance tests, on the build and on stock
//	go run ./hack lint                    gofmt, words, vet and golangci-lint on this repository
//	go run ./hack diagrams                the pictures of the documentation
//
// With --target VERSION before the command, it works on another version of upstream, one of
// those in hack/targets, and on its builds. With --series core it works only on the small
// patches at the start of the series.
//
// Results go to _output below the root of the repository, or to the folder of --output. A
// command that needs the patched trees first updates them to the series, which is fast if
// nothing changed. Two such runs cannot share a folder: the second one fails. Results are
// printed to stdout, progress to stderr. A failure is a message and exit code 1.
//
// Each command has one file, which reads arguments and prints. Package internal/tree works
// with git and the go command.
package main
