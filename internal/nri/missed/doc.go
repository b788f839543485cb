// SPDX-License-Identifier: Apache-2.0

// Package missed keeps the events that NRI plugins miss while they are disconnected: the names
// of the plugins, the pods and containers that each knew when it disconnected, and the ends
// that it has not received. They are kept over restarts of the runtime, in a bbolt file. The
// package knows neither plugins nor pods, only names, ids and bytes.
//
// # Memory and file
//
// Everything is in memory, and every query is answered from there. The file is a copy: it is
// read once, when the store is opened, and written in the background. A disk that is full,
// slow or gone costs durability and nothing else.
//
//	ends  / number -> {"kind":"StopPodSandbox","pod":"p1"} newline request
//	names / 10-logger / presence -> {"wants":["StopPodSandbox"],"disconnected":"2026-01-02T..."}
//	                  / known    / pod id NUL container id -> 0 or 1, whether it has stopped
//	                  / missed   / number -> number of an end, sorted by the first number
//
// An end is kept once, however many names have missed it.
//
// # Order and durability
//
// Calls are noted in memory in the order in which they come, and written in that order. Each
// transaction has everything that was noted before it began, and nothing that came after it.
// So the file of a runtime that was killed is always a past state of the store. When Sync
// returns, everything that its caller noted before is in the file, or an error was reported.
// Callers that call Sync at the same time share a transaction.
//
// Suppose that a plugin knows a pod. If the runtime is killed
//
//   - while the plugin is connected: the file says that it is. The next runtime assumes that
//     the plugin knows every pod and container it finds. The plugin knows no others, except
//     those whose creation is not recorded yet: the runtime has to note those itself.
//   - after the plugin disconnected, before the file says so: the same.
//   - after that, before the end of the pod is noted or safe: the pod is still in the
//     runtime's own records, since the runtime forgets it only after Sync. It ends again.
//   - after the end is safe, before the runtime forgot the pod: the pod ends again, and the
//     missed event is kept only once.
//   - after the plugin received the end, before the file says so: the plugin receives it
//     again. That is why delivery is at least once.
//
// # Replacing the file
//
// The whole store can be written to a new file, which is then renamed over the old one. This
// replaces a file that cannot be read, one that could not be written, and one on a disk that
// did not answer for too long. It is also how a file is tidied: bbolt returns no pages, and
// does not clear free ones. A small file is tidied some seconds after an end was delivered. A
// large one is tidied once no ends are left or most of it is free.
//
// # Bounds
//
// All names share one budget of bytes, in memory and so in the file. When it is exceeded, the
// oldest end of the largest name is dropped. A name that is disconnected for longer than the
// time to live is forgotten with all its missed events. That time is counted within one run of
// the runtime, so setting the clock drops nothing.
//
// The number of names is limited. A name beyond the limit takes the place of a disconnected one
// that holds nothing; if there is none, it is not kept. Reserved names go before others.
//
// Everything that is dropped is counted.
package missed
