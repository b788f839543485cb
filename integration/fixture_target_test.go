// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/hookline-nri/hookline/integration/cri"
	"github.com/hookline-nri/hookline/integration/node"
)

// target is a runtime as a case knows it: by its sockets of CRI and NRI, and by
// two questions that whoever runs the cases has to answer for the runtime.
type target interface {
	CRI() *cri.Client
	NRISocket() string
	// Settled waits until a started container's program can be asked to end.
	Settled(ctx context.Context, container string) error
	// Leftovers lists what there is that was not there without pods. A node of
	// its own sees all of it; by its sockets alone, a runtime tells what it lists.
	Leftovers(ctx context.Context) ([]leftover, error)
}

type leftover = node.Leftover

// timeouts are those that the runtime has for plugins; its own where zero.
type timeouts struct{ request, registration time.Duration }

// patient is for plugins that are slower than all that a runtime does without
// waiting for them.
var patient = timeouts{request: 30 * time.Second}

func (s timeouts) set(o *node.Options) {
	o.RequestTimeout, o.RegistrationTimeout = s.request, s.registration
}

// startTarget runs a runtime for one case.
func startTarget(t *testing.T, set ...timeouts) target {
	t.Helper()
	return startNode(t, func(o *node.Options) {
		for _, s := range set {
			s.set(o)
		}
	})
}
