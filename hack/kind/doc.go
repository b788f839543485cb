// SPDX-License-Identifier: Apache-2.0

// Package kind makes a cluster with the built containerd on its nodes, by kind: the node
// image, the cluster, and where none is given the engine that both need.
//
//	engine.go     the engine: Docker as it is given, or one of our own from Debian's packages
//	lowcap/       its runtime, where root lacks a capability
//	kernel.go     what a kubelet writes to the kernel for all, kept and put back
//	kubernetes.go Kubernetes and kind, from their modules
//	base.go       a root file system, from Debian's packages
//	runc.go       runc, from its module, with seccomp
//	rootfs.go     the node's root file system: base, kind's own files, binaries
//	images.go     the images of the control plane, of one program each
//	image.go      the node image, over a released one or of that root file system
//	cluster.go    the cluster and its network
//	testimages.go the images of the end-to-end tests
//	nodetests*.go Kubernetes' own tests of a node, their images, and what became of them
//	nmeter/       a program of those images
//
// It needs no registry: where none is reached all is made of Go modules and Debian packages.
// What can be made again lies in the folder kind of the output folder.
package kind
