// SPDX-License-Identifier: Apache-2.0

// critest, Kubernetes' conformance test of CRI, which pins its own dependencies.
module github.com/hookline-nri/hookline/hack/tools/critest

go 1.26.6

// The files that are proposed to cri-tools belong to its packages.
ignore ./proposed

require sigs.k8s.io/cri-tools v1.37.0
