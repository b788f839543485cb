// SPDX-License-Identifier: Apache-2.0

// Package recovery is for what CRI cannot recover when it starts: it is named and
// counted, and the rest is recovered (L22).
package recovery

import (
	"context"

	"github.com/containerd/log"
	"github.com/docker/go-metrics"
)

// What was skipped.
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
	skipped = ns.NewLabeledCounter("skipped", "What was not recovered at start, or not whole, as it could not be read or contradicts the rest, by what it is: sandbox, sandbox_name, sandbox_phase, sandbox_state, sandbox_update, container, container_name, images or folder; the log names it", "kind")
	metrics.Register(ns)
}

// PassOver logs and counts what was not recovered. name is its id or path.
func PassOver(ctx context.Context, kind, name string, err error) {
	skipped.WithValues(kind).Inc()
	log.G(ctx).WithError(err).WithField("kind", kind).Errorf("%q is not recovered", name)
}
