// SPDX-License-Identifier: Apache-2.0

// Package cases holds the cases of the conformance test: promises of the contract
// (docs/contract.md), asserted on real pods of a runtime that serves CRI and NRI.
//
// A profile declares each case once. The name begins with the case's rule and says what
// holds; the needs are what a runtime must have for it. A case knows the runtime as a
// fixture.Runtime: its sockets and a few questions. It reads no log, metric or file of the
// runtime, and asserts only what the contract says. Files are named by their subject, as
// in integration. Code that cases share is in package fixture.
package cases
