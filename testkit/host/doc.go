// SPDX-License-Identifier: Apache-2.0

// Package host keeps a container runtime of a test, and all that it runs, apart from the
// real host and from other runtimes.
//
// A host is a folder, a cgroup and two namespaces. All files are in the folder, all
// processes in the cgroup. The mount namespace keeps overlay mounts and pods' network
// namespaces from the real host, and covers /var/lib, where libcni keeps its cache, with a
// layer of its own; the network namespace is the "host" end of the pods' networks, so that
// neither addresses nor forwarding are set on the real host. Both namespaces are held by
// file descriptors only, so they end with the processes in them.
//
// That makes cleaning up simple: kill the processes in the cgroup, remove cgroup and
// folder. It needs nothing from the run that created the host, so Sweep does the same for
// runs that were killed. A lock on a file in the folder, which the kernel releases with its
// holder, marks hosts in use.
package host
