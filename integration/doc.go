// SPDX-License-Identifier: Apache-2.0

// Package integration holds black-box tests of a built containerd: real runc,
// real CNI plugins, real NRI plugins, spoken to over CRI and NRI sockets only.
//
// The test files are one per promise, and a test's name starts with the
// contract rule it proves. What they stand on are ordinary packages, free of
// package testing, since the demo and the benchmarks use them as well:
//
//	node    a containerd of its own, with all that it needs and all that it leaves
//	cri     the client side of CRI, with the few configurations that pods here need
//	plugin  an NRI plugin that records, refuses, delays, hangs or crashes as told
//	history what one connection was told, held against the contract
//	image   the one image there is, made from the program in pause
//	wait    for a condition, until a deadline
//
// Nothing here imports this repository's internal packages or its patches. The
// binaries come from _output: with RUNTIME=stock from the unpatched module,
// and then a test passes only if stock breaks exactly what the test says it does.
package integration
