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

// caller is a client of CRI that cancels the creation of a pod whose hook runs.
type caller struct {
	does     string
	patience time.Duration // the pod must reach its hook in this time
	explicit bool          // cancels before its deadline
	code     codes.Code
}

var canceledCallers = []caller{
	{does: "cancels", patience: time.Minute, explicit: true, code: codes.Canceled},
	{does: "runs out of time", patience: 12 * time.Second, code: codes.DeadlineExceeded},
}

// outlastsCallers gives plugins more time than the deadline of such callers.
func outlastsCallers(o *node.Options) { o.RequestTimeout = 20 * time.Second }

// cancels makes a plugin hold a pod until after its caller has canceled. It returns the pod and the
// caller's error.
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
