// SPDX-License-Identifier: Apache-2.0

// Package podnet is the network that a runtime attaches pods to. It wraps go-cni's object for
// one folder of configurations, and adds what go-cni lacks.
//
//	     Load             Answer, Fresh       Attach, Detach, Collect
//	       |                    |                       |
//	      \|/                  \|/                     \|/
//	+---------+  loaded   +--------------------+   +--------------------+
//	| go-cni  |---------->| netstatus: STATUS, |   | netattach: ADD, and|
//	+---------+  (a copy) | in the background  |   | DEL, GC with       |
//	                      +--------------------+   | libcni cache       |
//	                                               +--------------------+
//
// go-cni holds a lock while plugins run, and kills a plugin without the processes
// that it started. So a copy of the configuration is taken after each load, and only
// Load calls go-cni (N4).
package podnet
