// SPDX-License-Identifier: Apache-2.0

// critest, the conformance test of CRI that Kubernetes keeps, which pins what it is built with
// by itself.
module github.com/hookline-nri/hookline/hack/tools/critest

go 1.26.6

// What is proposed to cri-tools belongs to its packages.
ignore ./proposed

require sigs.k8s.io/cri-tools v1.37.0
