// SPDX-License-Identifier: Apache-2.0

// Package peer identifies the peer of a unix connection: the user and the process that
// connected, and the pod that this process runs in.
//
// The kernel vouches for user, group and process (SO_PEERCRED): they are those of the process
// that called connect, even if it passed the connection on. The process is held by a pidfd, so
// that no other process has its number as long as it lives. The pod is read from the cgroup of
// the process. Unless it is root on the node, a process cannot move from the cgroup of its
// container to that of another pod. What chooses the cgroups of containers, such as an NRI plugin
// that may set them, can place a process in any.
//
// Code in this package asks the kernel. Other packages decide what a peer may do, and whether a
// pod of that uid is known.
package peer
