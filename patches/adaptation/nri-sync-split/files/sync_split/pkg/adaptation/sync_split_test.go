// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/containerd/nri/pkg/adaptation/builtin"
	"github.com/containerd/ttrpc"
)

// limit is the size of ttrpc's largest message.
var limit = new(ttrpc.OversizedMessageErr).MaximumLength()

func TestSyncPart(t *testing.T) {
	for _, tc := range []struct{ n, podsLeft, ctrsLeft, pods, ctrs int }{
		{n: 8, podsLeft: 9, ctrsLeft: 0, pods: 8, ctrs: 0},
		{n: 8, podsLeft: 9, ctrsLeft: 9, pods: 8, ctrs: 0},
		{n: 8, podsLeft: 5, ctrsLeft: 9, pods: 5, ctrs: 3},
		{n: 8, podsLeft: 5, ctrsLeft: 1, pods: 5, ctrs: 1},
		{n: 8, podsLeft: 0, ctrsLeft: 9, pods: 0, ctrs: 8},
		{n: 1, podsLeft: 1, ctrsLeft: 1, pods: 1, ctrs: 0},
		{n: 1, podsLeft: 0, ctrsLeft: 1, pods: 0, ctrs: 1},
		{n: 1},
	} {
		pods, ctrs := syncPart(tc.n, tc.podsLeft, tc.ctrsLeft)
		require.Equal(t, []int{tc.pods, tc.ctrs}, []int{pods, ctrs}, "%+v", tc)
	}
}

func TestSmallerSyncPart(t *testing.T) {
	for _, tc := range []struct{ inPods, inCtrs, size, pods, ctrs int }{
		{inPods: 9, inCtrs: 0, size: limit + 1, pods: 4, ctrs: 0}, // half of it
		{inPods: 9, inCtrs: 9, size: limit * 3 / 2, pods: 9, ctrs: 0},
		{inPods: 2, inCtrs: 6, size: limit + 1, pods: 2, ctrs: 2},
		{inPods: 50, inCtrs: 50, size: limit * 4, pods: 25, ctrs: 0}, // in proportion
		{inPods: 5, inCtrs: 95, size: limit * 10, pods: 5, ctrs: 5},
		{inPods: 1, inCtrs: 1, size: limit * 100, pods: 1, ctrs: 0}, // one at least
		{inPods: 0, inCtrs: 3, size: limit * 100, pods: 0, ctrs: 1},
	} {
		pods, ctrs, err := smallerSyncPart(make([]*PodSandbox, tc.inPods), make([]*Container, tc.inCtrs), ttrpc.OversizedMessageError(tc.size))
		require.NoError(t, err)
		require.Equal(t, []int{tc.pods, tc.ctrs}, []int{pods, ctrs}, "%+v", tc)
	}
}

// If a message cannot be made smaller, the error says why.
func TestNoSmallerSyncPart(t *testing.T) {
	pods := []*PodSandbox{{Id: "cafe", Name: "web", Namespace: "shop"}}
	ctrs := []*Container{{Id: "f00d", Name: "main", PodSandboxId: "cafe"}}
	size := ttrpc.OversizedMessageError(limit + 1)
	lost, full := errors.New("connection lost"), status.Error(codes.ResourceExhausted, "the plugin has no memory")
	for _, tc := range []struct {
		pods      []*PodSandbox
		ctrs      []*Container
		rejection error
		text      string
	}{
		{pods, nil, size, fmt.Sprintf("pod shop/web (cafe) does not fit in a message of its own: %v", size)},
		{nil, ctrs, size, fmt.Sprintf("container main (f00d) of pod cafe does not fit in a message of its own: %v", size)},
		{nil, nil, size, fmt.Sprintf("an empty Synchronize does not fit in a message of its own: %v", size)},
		{pods, ctrs, lost, lost.Error()},
		{pods, ctrs, full, full.Error()},
	} {
		_, _, err := smallerSyncPart(tc.pods, tc.ctrs, tc.rejection)
		require.EqualError(t, err, tc.text)
		require.ErrorIs(t, err, tc.rejection)
	}
}

// Any mix of up to five pods and containers, each of one to four thirds of a
// message, arrives complete and in order, or fails with the name of the first object
// that does not fit in a message.
func TestEverySplitIsWhole(t *testing.T) {
	const most, weights = 5, 4
	for total, mixes := 0, 1; total <= most; total, mixes = total+1, mixes*weights {
		for mix := range mixes {
			var weight []int
			for range total {
				weight = append(weight, mix%weights+1)
				mix /= weights
			}
			for pods := range total + 1 {
				receiveSplit(t, weight[:pods], weight[pods:])
			}
		}
	}
}

// receiveSplit synchronizes a plugin whose messages hold objects with a total weight
// of three.
func receiveSplit(t *testing.T, pods, ctrs []int) {
	const holds = 3
	var (
		about    = fmt.Sprintf("pods of weight %v, containers of weight %v", pods, ctrs)
		weight   = map[string]int{}
		want     []string
		tooHeavy string
	)
	object := func(heavy int) string {
		id := fmt.Sprint("object", len(weight))
		weight[id] = heavy
		if tooHeavy == "" && heavy > holds {
			tooHeavy = id
		}
		if tooHeavy == "" {
			want = append(want, id)
		}
		return id
	}
	var p []*PodSandbox
	for _, heavy := range pods {
		p = append(p, &PodSandbox{Id: object(heavy)})
	}
	var c []*Container
	for _, heavy := range ctrs {
		c = append(c, &Container{Id: object(heavy)})
	}

	var received []string
	messages, over := 0, false
	answer := func(_ context.Context, req *SynchronizeRequest) (*SynchronizeResponse, error) {
		messages++
		require.LessOrEqual(t, messages, 2*len(weight)+1, "without end: %s", about)
		require.False(t, over, "a message after the last: %s", about)
		var ids []string
		sum := 0
		for _, pod := range req.GetPods() {
			ids = append(ids, pod.GetId())
		}
		for _, ctr := range req.GetContainers() {
			ids = append(ids, ctr.GetId())
		}
		require.True(t, len(ids) > 0 || len(weight) == 0, "an empty message: %s", about)
		for _, id := range ids {
			sum += weight[id]
		}
		if sum > holds {
			return nil, ttrpc.OversizedMessageError(limit * sum / holds)
		}
		received = append(received, ids...)
		over = !req.GetMore()
		return &SynchronizeResponse{More: req.GetMore()}, nil
	}
	joins := &plugin{
		r:    &Adaptation{metrics: &noopMetrics{}},
		impl: &pluginType{builtinImpl: &builtin.BuiltinPlugin{Handlers: builtin.BuiltinHandlers{Synchronize: answer}}},
	}
	_, err := joins.synchronize(context.Background(), p, c)

	require.Equal(t, want, received, about)
	if tooHeavy == "" {
		require.NoError(t, err, about)
		require.True(t, over, about)
		return
	}
	require.ErrorContains(t, err, "("+tooHeavy+")", about)
}
