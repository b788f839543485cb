// SPDX-License-Identifier: Apache-2.0

// Package cluster holds end-to-end tests on a cluster whose nodes run the built containerd. They
// see what users see, by client-go, and what a plugin on each node records.
//
//	HOOKLINE_KUBECONFIG  how the cluster is reached. Without it the tests are skipped, and fail
//	                     with CI=true
//	HOOKLINE_E2E_IMAGE   the image of program, by default localhost/hookline/e2e:dev
//
// make e2e sets both, on a cluster that make kind makes. On another one it needs a right to
// privileged pods, and a node that tests may restart: the worker is the first one that
// takes any pod. A test begins once all pods that are there are up.
//
// A test's name starts with the rule of the contract that it proves on the cluster. It
// waits for conditions, with deadlines that a busy machine keeps: a kubelet collects what
// is gone after three and a half minutes, and restarts with back-off.
//
//	program/  the one program in the images: plugin, workload, and a way to the node
//	record/   what the plugin writes on a node
//	deploy/   a plugin as users deploy it; docs/plugins.md shows it
package cluster
