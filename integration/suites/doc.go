// SPDX-License-Identifier: Apache-2.0

// Package suites runs test suites of other projects on a node, and compares the results of two
// runtimes: critest, Kubernetes' conformance test of CRI, and containerd's own tests of a running
// containerd.
//
// They use images of public registries. Here such images are made of Debian's busybox and nginx
// under the same names, and served by a registry on the node's loopback that containerd uses for
// all others. A test that uses an image by its published digest fails on any runtime.
package suites
