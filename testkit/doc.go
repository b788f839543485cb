// SPDX-License-Identifier: Apache-2.0

// Package testkit has no code of its own. Its packages start a runtime, talk to it and watch the
// events of its plugins. The integration tests, the conformance test, the benchmarks and the demo
// use them, so none imports package testing:
//
//	node    a private containerd with everything that it needs, and the leftovers of pods on it
//	host    a place on the machine for daemons
//	cri     the client side of CRI, with the few configurations that pods here need
//	plugin  an NRI plugin that records, rejects, delays, hangs or crashes as a test sets it,
//	        in a process of its own if it is to be frozen or killed
//	history the events of one connection, checked against the contract
//	image   the only image, made from the program in pause
//	script  a script in the place of a program
//	proc    the kernel's status of a process, and processes that end with this one
//	wait    for a condition, until a deadline
package testkit
