// SPDX-License-Identifier: Apache-2.0

// Package kind makes a cluster with the built containerd on its nodes, with kind: the node image, the
// cluster, and the Docker engine that both need, if none runs.
//
//	engine.go     the engine: a Docker engine that runs, or one of ours from Debian's packages
//	lowcap/       its runtime, where root lacks a capability
//	kernel.go     the kernel's settings that a kubelet changes, saved and restored
//	kubernetes.go Kubernetes and kind, from their modules
//	base.go       a root file system, from Debian's packages
//	runc.go       runc, from its module, with seccomp
//	rootfs.go     the node's root file system: base, kind's own files, binaries
//	images.go     the images of the control plane, each with one program
//	image.go      the node image, over a released one or from that root file system
//	cluster.go    the cluster
//	node.go       a container of that image: its programs and files
//	network.go    the network of its pods, by CNI or by a plugin, its routes and its services
//	testimages.go the images of the end-to-end tests
//	nodetests*.go Kubernetes' own tests of a node, their images, and their results
//	nmeter/       a program of those images
//
// It needs no registry: if none can be reached, everything is made of Go modules and Debian packages.
// Results are kept in the folder kind of the output folder.
package kind
