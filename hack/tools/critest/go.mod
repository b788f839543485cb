// SPDX-License-Identifier: Apache-2.0

// critest, the conformance test of CRI that Kubernetes keeps, with what its release was
// built with.
module github.com/hookline-nri/hookline/hack/tools/critest

go 1.26.6

require sigs.k8s.io/cri-tools v1.36.0
