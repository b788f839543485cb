// SPDX-License-Identifier: Apache-2.0

// Package clients tests that docker, nerdctl, crictl and ctr get from hookline what they get
// from stock: exit codes, states, events, and nothing left after.
//
// Each subtest is a flow on a node of its own. It states what each command comes to, and logs
// it as a line "observed: ...". make clients runs all of them on both runtimes and compares
// these lines; they may differ only where the flow names an improvement:
//
//	RUNTIME=stock CONTAINERD=folder TOOLS=folder CLIENTS=folder IMAGE=file go test ./integration/clients
package clients
