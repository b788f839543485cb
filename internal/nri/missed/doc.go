// SPDX-License-Identifier: Apache-2.0

// Package missed keeps what NRI plugins have to be told that are disconnected: who there was,
// what those know that went, and the ends that they have not heard. It keeps that
// over restarts of the runtime, in a bbolt file, and knows neither plugins nor pods:
// names, ids and bytes.
//
// # What is where
//
// Memory has all of it, and answers every question. The file is a copy, read once,
// when the store is opened, and written behind: so a disk that is full, slow or gone
// costs durability and nothing else.
//
//	ends  / number -> {"kind":"StopPodSandbox","pod":"p1"} newline request
//	names / 10-logger / presence -> {"wants":["StopPodSandbox"],"disconnected":"2026-01-02T..."}
//	                  / known    / pod id NUL container id -> 0 or 1, whether it has stopped
//	                  / owed     / number -> number of an end, in the order of the former
//
// An end is kept once, however many names are owed it.
//
// # Order and durability
//
// Calls are noted in memory in the order in which they come, and are written in that
// order: each transaction has all that was noted before it began, and nothing of what
// came after. So whatever a kill leaves in the file is a moment that there was. What
// one who calls Sync noted before is in the file when Sync returns, or an error was
// reported. Those who call it at once share a transaction.
//
// What follows for a runtime that is killed, where a plugin of some name knows a pod:
//
//   - while the plugin is connected: the file says that it is. The next runtime takes it
//     that the name knows what it finds, which is no less than it does, but for a pod or
//     container whose creation has no record yet. Those the runtime has to note.
//   - after the plugin left and before that is in the file: the same.
//   - after that, and before the end of the pod is noted or safe: the pod is still in the
//     runtime's own records, since the runtime forgets it only after Sync. It ends again.
//   - after the end is safe and before the runtime forgot the pod: it ends again, and an
//     end that is owed is owed once.
//   - after the plugin heard the end and before that is in the file: it hears it again.
//     That is why it is at least once.
//
// # Another file in place of the one there is
//
// All there is can be written to a new file beside, which then takes the name of the other
// one. That is what becomes of a file that cannot be read, of one that could not be
// written, and of one that a disk has kept waiting for too long. It is also how a file is
// tidied: bbolt gives no pages back, and leaves in those that are free what was in them. A
// small file is tidied some seconds after something was told, a large one if nothing is
// left to be told, or most of it is free.
//
// # Bounds
//
// All names share one budget of bytes, in memory and so in the file. Over it, the name
// that has most gives up its oldest end. A name that is disconnected for longer than the time to
// live is forgotten with all it is owed. That time is counted in one run of the runtime: a
// clock that is set drops nothing.
//
// So many names are kept. One that comes then takes the place of a name that is disconnected and
// holds nothing, or is not kept. Names that are reserved come before those that are not.
//
// What is dropped is counted.
package missed
