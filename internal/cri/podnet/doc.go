// SPDX-License-Identifier: Apache-2.0

// Package podnet is the network that a runtime attaches pods to: go-cni's
// object for one folder of configurations, and beside it what go-cni lacks.
//
//	          Load, Setup          Answer, Fresh        Detach, Collect
//	               |                     |                     |
//	               v                     v                     v
//	+---------+  loaded   +--------------------+   +--------------------+
//	| go-cni  |---------->| netstatus: STATUS, |   | netattach: DEL, GC |
//	+---------+  (a copy) | in the background  |   | from what was kept |
//	                      +--------------------+   +--------------------+
//
// go-cni holds a lock while plugins run: a reload that waits for an ADD which
// hangs keeps everything else waiting that asks for the configuration. So a
// copy is taken after each load, and only Load and Setup go to go-cni (N4).
package podnet
