// SPDX-License-Identifier: Apache-2.0

// Package testkit has no code of its own. Its packages start a runtime, speak to it and
// watch what its plugins get. The integration tests, the conformance test, the benchmarks
// and the demo use them, so none imports package testing:
//
//	node    a containerd of its own, with all that it needs, and what pods leave on it
//	host    what the machine has, and daemons on it
//	cri     the client side of CRI, with the few configurations that pods here need
//	plugin  an NRI plugin that records, rejects, delays, hangs or crashes as told,
//	        in a process of its own where it is frozen or killed
//	history the events of one connection, checked against the contract
//	image   the one image there is, made from the program in pause
//	script  a script in the place of a program
//	proc    what the kernel says of a process, and processes that end with this one
//	wait    for a condition, until a deadline
package testkit
