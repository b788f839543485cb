// SPDX-License-Identifier: Apache-2.0

// Package integration holds black-box tests of a built containerd, with real runc, CNI plugins and
// NRI plugins, through the sockets of CRI and NRI only.
//
// Each of these folders has the tests of one subject:
//
//	cases      the cases of the conformance test, and its program
//	pods       pods are created, rejected, stopped and removed
//	sandboxes  pods without a pause container
//	shims      shims, those of other sandboxers, and other clients of containerd
//	restart    the runtime is killed or restarted
//	plugins    plugins join, register, take over; their traces
//	missed     missed events
//	required   required plugins
//	network    CNI
//	resources  the resources of a pod's containers, and the example plugins
//	versions   moves between stock, the core and the full series; the pages for upstream
//	nodes      the tests' own tools
//
// A test's name starts with the rule of the contract that it proves, and says what holds. Code for
// several subjects is in fixture, code for one in its fixture_ files. The name of a helper that
// asserts something is require and the assertion.
//
// Promise asserts, in a subtest, something that the unpatched containerd may break: the text says
// what holds, and OnStock how stock breaks it. With RUNTIME=stock a promise that is declared broken
// must be broken, the others must hold, and make lists the broken ones at the end.
//
// Tests that need only a runtime's sockets of CRI and NRI are cases of the conformance test, in
// conformance/cases. TestCases runs each of them here, on nodes of its own. Code for tests and
// cases is in conformance/fixture.
//
// The runtime, the plugins and the clients that the tests use are in testkit.
//
// Nothing here imports this repository's internal packages or its patches, except the program in
// cluster, which moves a node to stock and back with internal/install. The binaries come from
// _output: with RUNTIME=stock from the unpatched module, with TARGET=v2.3.7 from that version.
package integration
