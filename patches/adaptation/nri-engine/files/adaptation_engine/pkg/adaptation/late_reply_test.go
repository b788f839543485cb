// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/internal/lifecycle"
)

// A request ends when a plugin has just answered it too late. The updates of the reply are applied
// once, and not at all if the request has failed.
func TestUpdatesOfALateReplyAreAppliedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		succeeds, before bool // whether the request ends before the reply has a place
		want             int32
	}{
		"it succeeds":      {true, false, 1},
		"it has succeeded": {true, true, 1},
		"it fails":         {false, false, 0},
		"it has failed":    {false, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var applied atomic.Int32
			r := &Adaptation{ordered: true}
			r.updateFn = func(context.Context, []*ContainerUpdate) ([]*ContainerUpdate, error) {
				applied.Add(1)
				return nil, nil
			}
			p := &plugin{r: r, idx: "10", base: "late"}
			request := &newContainer{}
			ev := lifecycle.Event{Kind: lifecycle.CreateContainer, Pod: "p", Container: "c", Request: request}
			reply := &CreateContainerResponse{Update: []*ContainerUpdate{{ContainerId: "other"}}}
			if test.before {
				request.settle(t.Context(), test.succeeds)
			}
			takePlace(p, ev, reply.GetUpdate())
			if !test.before {
				request.settle(t.Context(), test.succeeds)
			}
			r.unheard(connection{p}, ev, reply)

			over := make(chan struct{})
			p.changes.add(func() { close(over) })
			<-over
			require.Equal(t, test.want, applied.Load())
		})
	}
}
