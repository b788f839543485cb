// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// target is a runtime as a case knows it, by its sockets and a few questions.
type target = fixture.Runtime

// timeouts are those that the runtime has for plugins; its own where zero.
type timeouts struct{ request, registration time.Duration }

// patient is for plugins that are slower than all that a runtime does without
// waiting for them.
var patient = timeouts{request: 30 * time.Second}

func (s timeouts) set(o *node.Options) {
	o.RequestTimeout, o.RegistrationTimeout = s.request, s.registration
}

// startTarget runs a runtime for one test.
func startTarget(t *testing.T, set ...timeouts) target {
	t.Helper()
	return startNode(t, func(o *node.Options) {
		for _, s := range set {
			s.set(o)
		}
	})
}
