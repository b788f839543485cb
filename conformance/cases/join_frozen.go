// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// A plugin freezes while it reads Synchronize, which is larger than its socket's buffer. So
// the writer waits for the plugin to read.
var _ = Joining.has("L22_PluginThatFreezesInItsRegistrationBlocksNothing", Within(8*time.Second), func(t T) {
	const pods, atATime, large = 40, 8, 20 // KiB
	n := t.Runtime()
	_, timeout := n.Timeouts()
	other := NewPlugin(t, "10", "other")
	Connect(t, n, other)
	configs := PodsNamed(n, "before", pods)
	for _, config := range configs {
		config.Annotations = map[string]string{"large": KiB(large)}
	}
	before := RunPods(t.Context(), n, atATime, time.Minute, configs...)
	RequireAllCreated(t, before)
	ctx := WithinAMinute(t)

	frozen := StartProcess(t, n, plugin.Script{Index: "20", Name: "frozen", Returns: true, FreezeAfter: 4 << 10})
	require.NoError(t, frozen.Frozen(ctx))
	RequireSoon(t, "its record", func(context.Context) error { return HasAnswered(frozen, plugin.Configure) })
	require.Equal(t, []plugin.Event{plugin.Configure}, frozen.Calls().Events(), "it froze too late")
	froze := time.Now()
	hurried := make(chan hurriedCreation, 1)
	go func() { hurried <- runHurriedPod(ctx, n, timeout/3) }()
	var errEnd error
	ended := make(chan time.Duration, 1)
	go func() {
		start := time.Now()
		within, cancel := context.WithTimeout(ctx, 4*timeout)
		defer cancel()
		if errEnd = n.CRI().StopPod(within, before[0].ID); errEnd == nil {
			errEnd = n.CRI().RemovePod(within, before[0].ID)
		}
		ended <- time.Since(start)
	}()
	during := RunPods(ctx, n, 3, 4*timeout, PodsNamed(n, "during", 3)...)
	end, hurry := <-ended, <-hurried
	after := RunPods(ctx, n, 1, 4*timeout, PodsNamed(n, "after", 1)...)
	for i, c := range during {
		InTimeouts(t, fmt.Sprintf("pod %d is created meanwhile (%v)", i, c.Err), c.Took, timeout)
	}
	InTimeouts(t, fmt.Sprintf("a pod is stopped and removed meanwhile (%v)", errEnd), end, timeout)
	InTimeouts(t, fmt.Sprintf("a pod is created after the plugin's time is over (%v)", after[0].Err), after[0].Took, timeout)
	InTimeouts(t, fmt.Sprintf("the name of a pod whose call had a third of the timeout is free (%v)", hurry.errFree), hurry.free.Sub(froze), timeout)
	require.NoError(t, frozen.Thaw())

	const stuck = "the runtime waits for the plugin to read, and everything else waits for the runtime"
	t.Promise("L22", "no creation waits longer for a frozen plugin than its timeout for Synchronize", OnStock(stuck), func(t require.TestingT) {
		RequireAllCreated(t, during)
		assert.Less(t, Slowest(during), 2*timeout)
	})
	t.Promise("L22", "a call with a shorter deadline ends at that deadline", OnStock(stuck), func(t require.TestingT) {
		assert.Equal(t, codes.DeadlineExceeded, status.Code(hurry.err))
		require.NoError(t, hurry.errFree)
		assert.Less(t, hurry.free.Sub(froze), timeout)
	})
	t.Promise("L13", "the end of a pod does not wait for the frozen plugin", OnStock(stuck), func(t require.TestingT) {
		require.NoError(t, errEnd)
		assert.Less(t, end, timeout)
	})
	t.Promise("L22", "nothing waits for the frozen plugin after its timeout", OnStock(stuck), func(t require.TestingT) {
		RequireAllCreated(t, after)
		assert.Less(t, after[0].Took, timeout)
	})
	t.Promise("L13", "only the frozen plugin is dropped", OnStock(stuck), func(t require.TestingT) {
		RequireSoon(t, "its connection to end", func(context.Context) error {
			if len(frozen.Gone()) == 0 {
				return fmt.Errorf("%s is connected", frozen.Name())
			}
			return nil
		})
		assert.True(t, IsOpen(other.Closed()), "%s was dropped", other.Name())
		for _, c := range append(during, after...) {
			assert.Equal(t, Undone[:1], other.Calls().Of(c.ID).Events(), other.Name())
		}
	})
	t.Promise("L13", "the plugin can reconnect, and receives all pods that exist", SometimesOnStock("it also receives pods of calls that outlive their callers"), func(t require.TestingT) {
		var synchronized plugin.Calls
		RequireSoon(t, "the plugin to reconnect", func(context.Context) error {
			synchronized = frozen.Calls().Latest().Only(plugin.Synchronize)
			if len(frozen.Gone()) == 0 || len(synchronized) == 0 || synchronized[0].End.IsZero() {
				return fmt.Errorf("%d connections, not synchronized", len(frozen.Calls().Connections()))
			}
			return nil
		})
		require.Len(t, synchronized, 1)
		assert.Len(t, synchronized[0].Pods, pods-1+len(during)+len(after)+1)
	})
})

// hurriedCreation is the result of a creation that had too little time, and the time at which
// the name of its pod was free again.
type hurriedCreation struct {
	err     error
	free    time.Time
	errFree error
}

// runHurriedPod creates a pod with a short deadline, and then again until it succeeds. The name
// is taken for as long as the first call goes on in the runtime.
func runHurriedPod(ctx context.Context, n Runtime, deadline time.Duration) (h hurriedCreation) {
	config := n.CRI().Pod("hurried")
	short, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	_, h.err = n.CRI().RunPod(short, config)
	long, cancel := context.WithTimeout(ctx, 10*deadline)
	defer cancel()
	h.errFree = wait.Until(long, "the name of the pod to be free", func(ctx context.Context) error {
		h.free = time.Now()
		_, err := n.CRI().RunPod(ctx, config)
		return err
	})
	return h
}
