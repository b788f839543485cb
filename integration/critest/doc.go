// SPDX-License-Identifier: Apache-2.0

// Package critest runs critest, Kubernetes' conformance test of CRI, on a node, and compares
// what two runtimes make of it.
//
// critest names images of public registries. Here they are made of Debian's busybox and
// nginx under the same names, and served by a registry on the node's loopback that containerd
// takes for all others. What asks for an image by the digest of the published one fails
// everywhere.
package critest
