// SPDX-License-Identifier: Apache-2.0

// Package suites runs the test suites of others on a node, and compares what two runtimes make of
// them: critest, Kubernetes' conformance test of CRI, and containerd's own tests of a running
// containerd.
//
// They name images of public registries. Here these are made of Debian's busybox and nginx under
// the same names, and served by a registry on the node's loopback that containerd takes for all
// others. What asks for an image by the digest of the published one fails everywhere.
package suites
