// SPDX-License-Identifier: Apache-2.0

// Package integration holds black-box tests of a built containerd: real runc,
// real CNI plugins, real NRI plugins, spoken to over CRI and NRI sockets only.
//
// A test's name starts with the rule of the contract that it proves, and says
// what holds. Its file is named by the subject: join_ and creation_ (a plugin,
// a pod comes to be), hook_, refusal_, teardown_, restart_, plugin_, network_,
// resources_, shim_ (sandboxes that their shim makes), life_, status_, example_, node_
// (of the tests' own tools). What the tests share is in fixture_ files, which
// hold no tests. A helper that asserts something starts with require, and what
// follows is what it asserts.
//
// What the unpatched containerd breaks is asserted with promise, one subtest
// for each: the text says what holds, and onStock how stock breaks it. With
// RUNTIME=stock a promise that is declared broken must be, the others must
// hold, and the list of the broken ones is printed at the end.
//
// What needs no more of a runtime than its sockets of CRI and NRI is a case of the
// conformance test, in conformance/cases. TestCases runs each of them here, on nodes of
// its own. What tests and cases share is in conformance/fixture, and has its names here
// in fixture_shared_test.go.
//
// The runtime, the plugins and the clients that the tests use are in testkit.
//
// Nothing here imports this repository's internal packages or its patches. The
// binaries come from _output: with RUNTIME=stock from the unpatched module, with
// TARGET=v2.3.7 of that version.
package integration
