// SPDX-License-Identifier: Apache-2.0

// Package netstatus knows whether a CNI configuration takes pods: it runs the
// STATUS of its networks in the background and keeps the last answer. There is one
// [Monitor] for each go-cni object, the default network or that of a runtime
// handler.
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
// A round reads the configuration, runs STATUS of every network but the loopback at
// the same time, and ends within one timeout. The worst answer counts for the
// configuration. There is one round at a time, so a network has at most one STATUS
// under way, and there is no goroutine without a round. Callers during a round
// share it.
//
//   - N1 [Monitor.Status] returns the last answer. It waits for the first answer
//     only, up to Options.FirstWait after the first call: a runtime that was restarted
//     does not take a network for failing because its STATUS takes a while.
//   - N2 [Monitor.Fresh] runs STATUS once more before a pod is rejected, and
//     [Status.Err] is the error to reject it with.
//   - N4 No lock is held while a plugin or go-cni runs, neither here nor in go-cni:
//     the configuration is read before STATUS runs. A go-cni that keeps its
//     configuration locked, since an ADD hangs and a reload waits for it, delays a
//     round and no caller.
//
// Networks below CNI 1.1.0, which has no STATUS, are ready once they are loaded, as
// in go-cni.
//
// The clock is package time. Tests of the rules run in bubbles of testing/synctest,
// with plugins that are not processes.
package netstatus
