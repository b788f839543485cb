// SPDX-License-Identifier: Apache-2.0

// Package cluster holds end-to-end tests on a cluster whose nodes run the built containerd. They
// use client-go, as users see the cluster, and the records of a plugin on each node.
//
//	HOOKLINE_KUBECONFIG  how the cluster is reached. Without it the tests are skipped, and fail
//	                     with CI=true
//	HOOKLINE_E2E_IMAGE   the image of program, by default localhost/hookline/e2e:dev
//
// make e2e sets both, on a cluster that make kind makes. Another cluster must allow privileged
// pods, and have a node whose containerd and kubelet the tests may restart: the worker is the first
// node that takes any pod. A test begins once all existing pods run.
//
// A test's name starts with the rule of the contract that it proves on the cluster. It waits for
// conditions, with deadlines for a busy machine: a kubelet collects ended pods after three and a
// half minutes, and restarts containers with back-off.
//
//	program/  the one program in the images: plugin, workload, and a way to the node
//	record/   what the plugin writes on a node
//	deploy/   a plugin as users deploy it; docs/plugins.md shows it
package cluster
