// SPDX-License-Identifier: Apache-2.0

// Package node runs a containerd on a host of its own, apart from the real host and from
// other nodes: for tests, the demo and benchmarks.
package node
