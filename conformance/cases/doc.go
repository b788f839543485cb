// SPDX-License-Identifier: Apache-2.0

// Package cases holds the cases of the conformance test: promises of the contract
// (docs/contract.md), asserted on real pods of a runtime that serves CRI and NRI.
//
// A case is declared once, by its profile: its name begins with the rule that it is
// about and says what holds, and its needs are what it asks of a runtime. It knows the
// runtime as a fixture.Runtime, by its sockets and a few questions. It reads no log,
// metric or file of the runtime, and asserts nothing that the contract does not say.
// Files are named by the subject, as those of integration are. What cases share is in
// package fixture.
package cases
