// SPDX-License-Identifier: Apache-2.0

// Package peer tells who is at the other end of a unix connection: the user and
// the process that connected, and the pod that this process runs in.
//
// The kernel vouches for user, group and process (SO_PEERCRED): they are those of the
// process that called connect, whoever the connection was passed on to. The process is
// held by a pidfd, so that its number, as long as it lives, is that of no other. The
// pod is read from the cgroup of the process. A process cannot leave the cgroup that
// its container was given for one of another pod, unless it is root on the node.
//
// What comes in here asks the kernel. Who may do what is decided elsewhere, and so is
// whether a pod of that uid is known.
package peer
