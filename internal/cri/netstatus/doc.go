// SPDX-License-Identifier: Apache-2.0

// Package netstatus knows whether a CNI configuration takes pods: it runs the STATUS of its
// networks in the background and keeps the last answer. Each go-cni object has a [Monitor]: the
// default network, and that of each runtime handler.
//
//	Status    Fresh    Changed    AddFailed
//	   |        |         |           |
//	   v        v         v           v
//	+-------------------------------------+
//	| Monitor    last answer | one round  |
//	+-----------------------------+-------+
//	                              | a goroutine, while STATUS runs
//	                              v
//	      source: go-cni's GetConfig, then libcni's STATUS of each network
//
// A round reads the configuration, runs STATUS of all networks but the loopback at the same
// time, and ends within one timeout. The worst answer counts for the configuration. Only one
// round runs at a time, so a network has at most one STATUS under way. Without a round there is
// no goroutine. Callers during a round share it.
//
//   - N1 [Monitor.Status] returns the last answer. It waits only for the first one, up to
//     Options.FirstWait after the first call, so that a slow STATUS after a restart of the
//     runtime does not look like a failure.
//   - N2 [Monitor.Fresh] runs STATUS once more before a pod is rejected, and
//     [Status.Err] is the error to reject it with.
//   - N4 No lock is held while a plugin or go-cni runs, neither here nor in go-cni: the
//     configuration is read before STATUS runs. If go-cni keeps its configuration locked,
//     because a reload waits for an ADD that hangs, that delays a round, but no caller.
//
// Networks below CNI 1.1.0, which has no STATUS, are ready once they are loaded, as
// in go-cni.
//
// The clock is package time. Tests of the rules run in bubbles of testing/synctest,
// with plugins that are not processes.
package netstatus
