// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// runRejectedPods tries to create pods that a plugin rejects, a few at a time.
func runRejectedPods(ctx context.Context, t *testing.T, n *node.Node, from, to int) {
	t.Helper()
	const atATime = 6
	pods := make(chan int)
	var all sync.WaitGroup
	for range atATime {
		all.Go(func() {
			for i := range pods {
				_, err := n.CRI().RunPod(ctx, n.CRI().Pod(fmt.Sprintf("rejected-%d", i)))
				assert.ErrorContains(t, err, "not here")
			}
		})
	}
	for i := from; i < to; i++ {
		pods <- i
	}
	close(pods)
	all.Wait()
}

// Two hundred pods that a plugin rejects leave the node as it was.
func TestL7_ManyRejectionsLeaveNothing(t *testing.T) {
	t.Parallel()
	const first, more = 20, 200
	// The numbers of open files and goroutines vary a little, with requests to the runtime and with
	// collectors. A leak at each rejection would add up to more.
	const noise = more / 20
	n := StartNode(t, func(o *node.Options) { o.LogLevel = "info" })
	allows, rejects := plugin.New("10", "allows"), plugin.New("20", "rejects")
	rejects.On(plugin.RunPodSandbox, plugin.Fail("not here"))
	Connect(t, n, allows, rejects)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // on stock, and on a busy machine, each is slow
	defer cancel()
	runRejectedPods(ctx, t, n, 0, first) // resources that are made once exist by then
	before, err := n.Vitals(ctx)
	require.NoError(t, err)

	runRejectedPods(ctx, t, n, first, first+more)

	var after node.Vitals
	t.Logf("before: %s", before)
	defer func() { t.Logf("after: %s", after) }()
	Promise(t, "L7", "nothing is left of many rejected pods", OnStock("some of the roll-backs fail"), func(t require.TestingT) { RequireNothingLeft(t, n) })
	Promise(t, "L7", "the runtime holds no more files, goroutines and records than before", OnStock("it holds those of roll-backs that failed"), func(t require.TestingT) {
		RequireSoon(t, "containerd to hold no more than before", func(ctx context.Context) (err error) {
			if after, err = n.Vitals(ctx); err != nil {
				return err
			}
			if after.Files > before.Files+noise || after.Goroutines > before.Goroutines+noise || after.Records != before.Records {
				return fmt.Errorf("%s; before, %s", after, before)
			}
			return nil
		})
		// The file doubles when the pages of concurrent transactions do not fit, and may have been
		// just below that size.
		assert.LessOrEqual(t, after.Database, 2*before.Database)
	})
	Promise(t, "L3", "plugins that were asked receive each end once", KeptOnStock, func(t require.TestingT) {
		for _, p := range []*plugin.Plugin{allows, rejects} {
			assert.Len(t, p.Calls(), 2+(first+more)*len(Undone), p.Name())
			reading := history.Read(p.Calls(), nil)
			assert.Empty(t, reading.Faults(), p.Name())
			assert.Empty(t, reading.Alive(), p.Name())
		}
	})
}
