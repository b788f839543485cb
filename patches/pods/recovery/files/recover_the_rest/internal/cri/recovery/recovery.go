// SPDX-License-Identifier: Apache-2.0

// Package recovery logs and counts whatever CRI cannot recover at its start. CRI recovers the
// rest (L22).
package recovery

import (
	"context"

	"github.com/containerd/log"
	"github.com/docker/go-metrics"
)

// The kinds of things that are skipped.
const (
	Sandbox       = "sandbox"
	SandboxName   = "sandbox_name"
	SandboxPhase  = "sandbox_phase"
	SandboxState  = "sandbox_state"
	SandboxUpdate = "sandbox_update"
	Container     = "container"
	ContainerName = "container_name"
	Images        = "images"
	Folder        = "folder"
)

var skipped metrics.LabeledCounter

func init() {
	ns := metrics.NewNamespace("containerd", "cri_recovery", nil)
	skipped = ns.NewLabeledCounter("skipped", "Records that were not, or not fully, recovered at start, because they could not be read or contradict others, by kind: sandbox, sandbox_name, sandbox_phase, sandbox_state, sandbox_update, container, container_name, images or folder; the log names each", "kind")
	metrics.Register(ns)
}

// Skip logs and counts a thing that is not recovered. name is its id or path.
func Skip(ctx context.Context, kind, name string, err error) {
	skipped.WithValues(kind).Inc()
	log.G(ctx).WithError(err).WithField("kind", kind).Errorf("%q is not recovered", name)
}
