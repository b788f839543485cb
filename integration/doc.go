// SPDX-License-Identifier: Apache-2.0

// Package integration holds black-box tests of a built containerd: real runc,
// real CNI plugins, real NRI plugins, spoken to over CRI and NRI sockets only.
//
// Each of these folders has the tests of one subject:
//
//	cases      the cases of the conformance test, and its program
//	pods       a pod comes to be, is rejected, is stopped and removed
//	shims      shims, those of other sandboxers, and other clients of containerd
//	restart    the runtime is killed or restarted
//	plugins    plugins join, register, take over; what is traced of them
//	missed     ends that a plugin missed
//	required   what waits for a required plugin
//	network    CNI
//	resources  the resources of a pod's containers, and the example plugins
//	versions   between stock, the core and the whole series; the pages for upstream
//	nodes      of the tests' own tools
//
// A test's name starts with the rule of the contract that it proves, and says
// what holds. What those of several subjects share is in fixture, and what those of one
// do in its fixture_ files. A helper that asserts something starts with require, and what
// follows is what it asserts.
//
// What the unpatched containerd breaks is asserted with Promise, one subtest
// for each: the text says what holds, and OnStock how stock breaks it. With
// RUNTIME=stock a promise that is declared broken must be, the others must
// hold, and make lists the broken ones at the end.
//
// What needs no more of a runtime than its sockets of CRI and NRI is a case of the
// conformance test, in conformance/cases. TestCases runs each of them here, on nodes of
// its own. What tests and cases share is in conformance/fixture.
//
// The runtime, the plugins and the clients that the tests use are in testkit.
//
// Nothing here imports this repository's internal packages or its patches, but for the
// program in cluster, which moves a node to stock and back with internal/install. The
// binaries come from _output: with RUNTIME=stock from the unpatched module, with
// TARGET=v2.3.7 of that version.
package integration
