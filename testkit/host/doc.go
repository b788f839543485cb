// SPDX-License-Identifier: Apache-2.0

// Package host keeps a container runtime of a test, and everything that it runs, apart from the
// real host and from other runtimes.
//
// A host is a folder, a cgroup and two namespaces. All files are in the folder, all
// processes in the cgroup. The mount namespace keeps overlay mounts and pods' network
// namespaces from the real host, and covers /var/lib, where libcni keeps its cache, with a
// layer of its own; the network namespace is the "host" end of the pods' networks, so that
// neither addresses nor forwarding are set on the real host. Both namespaces are held by
// file descriptors only, so they end with the processes in them.
//
// So cleaning up is simple: kill the processes in the cgroup, and remove cgroup and folder. It needs
// nothing from the run that created the host, so Sweep does the same for killed runs. A lock on a
// file in the folder marks a host in use; the kernel releases it when its holder exits.
package host
