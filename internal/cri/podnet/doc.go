// SPDX-License-Identifier: Apache-2.0

// Package podnet is the network that a runtime attaches pods to: go-cni's
// object for one folder of configurations, and beside it what go-cni lacks.
//
//	          Load, Setup          Answer, Fresh        Detach, Collect
//	               |                     |                     |
//	               v                     v                     v
//	+---------+  loaded   +--------------------+   +--------------------+
//	| go-cni  |---------->| netstatus: STATUS, |   | netattach: DEL, GC |
//	+---------+  (a copy) | in the background  |   | with libcni cache  |
//	                      +--------------------+   +--------------------+
//
// go-cni holds a lock while plugins run: a reload that waits for an ADD that hangs
// makes everyone else who reads the configuration wait. So a copy is taken after
// each load, and only Load and Setup call go-cni (N4).
package podnet
