// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// caller is a client of CRI who gives up a pod that is in its hook.
type caller struct {
	does     string
	patience time.Duration // in which the pod gets to its hook
	explicit bool          // or its time is up
	code     codes.Code
}

var canceledCallers = []caller{
	{does: "cancels", patience: time.Minute, explicit: true, code: codes.Canceled},
	{does: "runs out of time", patience: 12 * time.Second, code: codes.DeadlineExceeded},
}

// outlastsCallers gives plugins more time than such callers have.
func outlastsCallers(o *node.Options) { o.RequestTimeout = 20 * time.Second }

// cancels has a plugin hold a pod until its caller has given up, and on. What that one heard
// is returned.
func (c caller) cancels(t *testing.T, n *node.Node, p *plugin.Plugin) (InHook, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(WithinAMinute(t), c.patience)
	defer cancel()
	pod := NewInHookOf(ctx, t, n, p, "abandoned")
	if c.explicit {
		cancel()
	}
	return pod, <-pod.Ran
}
