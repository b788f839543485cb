// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package sandbox serves the Sandbox API (runtime.sandbox.v1) for pods that runc's shim runs.
//
// A sandbox needs no process: its namespaces are held by mounts in its bundle, and its pid is 0.
// Those of processes and users cannot be had so, and a pod that needs either is rejected.
//
//	bundle/
//	    ns/ipc, ns/uts                 the namespaces, mounted
//	    shm                            a tmpfs, for containers to mount
//	    work/                          a link to a folder on disk
//	        hostname, hosts, resolv.conf   files for containers to mount
//
// The answer to StartSandbox has an OCI specification with the paths of the namespaces and, as
// mounts, the files and where they belong in a container.
package sandbox
