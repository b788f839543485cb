// SPDX-License-Identifier: Apache-2.0

// Package clients tests that docker, nerdctl, crictl and ctr work with hookline as with stock: exit
// codes, states, events, and nothing left in the end.
//
// Each subtest is a flow on a node of its own. It asserts the result of each command, and logs it
// as a line "observed: ...". make clients runs all flows on both runtimes and compares these lines;
// they may differ only where the flow names an improvement:
//
//	RUNTIME=stock CONTAINERD=folder TOOLS=folder CLIENTS=folder IMAGE=file go test ./integration/clients
package clients
