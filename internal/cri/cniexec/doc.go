// SPDX-License-Identifier: Apache-2.0

// Package cniexec runs CNI plugins for libcni ([invoke.Exec]) in a way that
// ends when its context does, whatever the plugin does. libcni's own way waits
// for the plugin's output, and so for every process that a plugin left holding
// it. Here
//
//   - a plugin has a process group of its own, and all of it is killed when the
//     context ends;
//   - a plugin that exited has answered: what it left on its output is listened
//     to for [Grace] more, and with [Exec.Sweep] killed;
//   - what is kept of the output is bounded;
//   - an error says who failed: a [types.Error] is what the plugin said, and
//     nothing else is one.
//
// Where there are no process groups to be had, on systems other than Linux,
// the plugin's own process is what is killed, and nothing is swept.
package cniexec
