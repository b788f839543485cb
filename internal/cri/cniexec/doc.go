// SPDX-License-Identifier: Apache-2.0

// Package cniexec runs CNI plugins for libcni ([invoke.Exec]) and returns when its
// context ends, whatever the plugin does. libcni's own implementation waits for the
// plugin's output, and so for every process that a plugin left holding it. Here
//
//   - a plugin has a process group of its own, which is killed as a whole when the
//     context ends, and waited for no longer than [Exec.Patience];
//   - a plugin that exited has answered: the output of processes that it left is
//     read for [Grace] more, and with [Exec.Sweep] they are killed;
//   - the output that is kept is bounded;
//   - an error is a [types.Error] only if the plugin itself answered it.
//
// Process groups are used on Linux. Elsewhere only the plugin's own process is
// killed.
package cniexec
