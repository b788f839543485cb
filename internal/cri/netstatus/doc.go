// SPDX-License-Identifier: Apache-2.0

// Package netstatus knows whether a CNI configuration can take pods: it asks
// the STATUS of its networks in the background and keeps the answer. One
// [Monitor] stands for one go-cni object, the default network or that of a
// runtime handler.
//
//	Status    Fresh    Changed    AddFailed
//	   |        |         |           |
//	   v        v         v           v
//	+-------------------------------------+
//	| Monitor    kept answer | one round  |
//	+-----------------------------+-------+
//	                              | a goroutine, while there is something to ask
//	                              v
//	      source: go-cni's GetConfig, then libcni's STATUS of each network
//
// A round reads the configuration, asks every network but the loopback at the
// same time, and ends within one timeout. The worst answer is the
// configuration's. There is one round at a time, so a network has one STATUS
// under way at most, and no goroutine when nobody asks. Whoever calls while a
// round is under way shares it.
//
//   - N1 [Monitor.Status] says what is kept. The first answer is waited for, up
//     to Options.FirstWait after the first call, and nothing else is.
//   - N2 [Monitor.Fresh] asks once more before a pod is refused, and
//     [Status.Err] is what to refuse it with.
//   - N4 No lock is held while a plugin or go-cni is at work, neither here nor
//     there: the configuration is read and let go of before STATUS is asked. A
//     go-cni that keeps its configuration locked, since an ADD hangs and a
//     reload waits for it, holds up a round and nobody else.
//
// Networks with a configuration below CNI 1.1.0, which has no STATUS, are
// ready once they are loaded, as ever.
//
// The clock is package time. Tests of the rules run in bubbles of
// testing/synctest, with plugins that are not processes.
package netstatus
