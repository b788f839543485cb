// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// kept is a store with the reports of its callbacks.
type kept struct {
	*Store
	path string
	now  time.Time

	mu      sync.Mutex // guards the fields below
	dropped []string
	crowded []string
	failed  []error
}

func newKept(t *testing.T) *kept {
	k := &kept{path: filepath.Join(t.TempDir(), "nri", "missed.db"), now: time.Unix(1e9, 0).UTC()}
	k.open(Options{})
	t.Cleanup(func() { k.Close() })
	return k
}

func (k *kept) open(o Options) {
	o.Path = k.path
	o.Now = func() time.Time { return k.now }
	o.Patience = time.Minute
	o.Dropped = func(name, reason string, ends int) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.dropped = append(k.dropped, fmt.Sprintf("%s %s %d", name, reason, ends))
	}
	o.Crowded = func(name string) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.crowded = append(k.crowded, name)
	}
	o.Failed = func(err error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.failed = append(k.failed, err)
	}
	k.Store = Open(o)
}

func (k *kept) reopen(o Options) {
	k.Close()
	k.open(o)
}

func (k *kept) failures() []error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failed
}

var wants = []string{"StopPodSandbox", "RemovePodSandbox"}

// miss notes ends such as "StopContainer p1 c1", each with a request of its own.
func (k *kept) miss(name string, ends ...string) {
	for _, e := range ends {
		f := append(strings.Fields(e), "")
		k.Miss(name, f[0], [2]string{f[1], f[2]}, "request of "+e)
	}
}

// misses returns the ends that a name has missed, in order.
func (k *kept) misses(t *testing.T, name string) (ends []string) {
	t.Helper()
	for d := range k.Missed(name) {
		e := strings.TrimSpace(d.Kind + " " + d.Object[0] + " " + d.Object[1])
		require.Equal(t, "request of "+e, d.Request)
		ends = append(ends, e)
	}
	return ends
}

// goes has a name connect and disconnect, and know these pods.
func (k *kept) goes(name string, pods ...string) {
	k.now = k.now.Add(time.Second)
	k.Joined(name, wants)
	known := make(map[[2]string]bool)
	for _, p := range pods {
		known[[2]string{p}] = false
	}
	k.Left(name, maps.All(known))
}

// has returns the names that are kept, in order.
func (k *kept) has() []string {
	return slices.Sorted(maps.Keys(maps.Collect(k.Names())))
}

func (k *kept) knows(name string) map[[2]string]bool { return maps.Collect(k.Known(name)) }

func TestNotesOutliveARestart(t *testing.T) {
	k := newKept(t)
	k.Joined("10-a", wants)
	k.Joined("20-b", nil)
	k.now = k.now.Add(time.Minute)
	k.Left("10-a", maps.All(map[[2]string]bool{{"p1"}: false, {"p1", "c1"}: true, {"p2"}: false}))
	k.miss("10-a", "StopContainer p1 c2", "StopPodSandbox p1", "StopPodSandbox p1", "RemovePodSandbox p2")
	k.miss("20-b", "StopPodSandbox p3")
	require.Equal(t, 0, k.Delivered("20-b", "StopPodSandbox", [2]string{"p3"}))
	require.Equal(t, 2, k.Delivered("10-a", "StopContainer", [2]string{"p1", "c2"}))
	require.Equal(t, 2, k.Delivered("10-a", "StopContainer", [2]string{"p1", "c2"}), "delivered twice")
	for range 2 {
		require.Equal(t, map[string]Presence{
			"10-a": {Wants: wants, Disconnected: k.now, Missed: 2},
			"20-b": {},
		}, maps.Collect(k.Names()))
		require.Equal(t, []string{"StopPodSandbox p1", "RemovePodSandbox p2"}, k.misses(t, "10-a"))
		require.Equal(t, map[[2]string]bool{{"p1"}: false, {"p1", "c1"}: true, {"p2"}: false}, k.knows("10-a"), "as noted")
		k.reopen(Options{})
	}
	k.miss("10-a", "RemovePodSandbox p1")
	k.Joined("10-a", wants)
	k.reopen(Options{})
	require.Equal(t, []string{"StopPodSandbox p1", "RemovePodSandbox p2", "RemovePodSandbox p1"}, k.misses(t, "10-a"), "an end noted after a restart comes last")
	require.Empty(t, k.knows("10-a"), "the objects that a connected plugin knows are not kept")
	require.Equal(t, 3, k.Forget("10-a"))
	k.reopen(Options{})
	require.Equal(t, []string{"20-b"}, slices.Collect(maps.Keys(maps.Collect(k.Names()))))
	require.False(t, k.Miss("10-a", "StopPodSandbox", [2]string{"p9"}, ""))
	require.Empty(t, k.failures())
}

// The object of a dropped end is not known any more. Otherwise its end would be made up after a
// restart, with ids alone.
func TestEndThatIsDroppedIsNotKnown(t *testing.T) {
	k := newKept(t)
	k.goes("10-a", "p1", "p2")
	k.miss("10-a", "RemovePodSandbox p1")
	k.opts.Bytes = k.Bytes()
	k.miss("10-a", "RemovePodSandbox p2")
	k.reopen(Options{})
	require.Equal(t, []string{"RemovePodSandbox p2"}, k.misses(t, "10-a"))
	require.Equal(t, map[[2]string]bool{{"p2"}: false}, k.knows("10-a"))
}

// All names share the budget. The largest one loses its oldest end, and reserved names keep
// theirs as long as others have any.
func TestLargestUserLosesItsOldest(t *testing.T) {
	k := newKept(t)
	k.reopen(Options{Reserved: func(name string) bool { return name == "30-driver" }})
	k.goes("10-little")
	k.goes("20-much")
	k.goes("30-driver")
	k.miss("10-little", "StopPodSandbox p1")
	for i := range 10 {
		k.miss("20-much", fmt.Sprint("StopPodSandbox much", i))
		k.miss("30-driver", fmt.Sprint("StopPodSandbox driver", i), fmt.Sprint("RemovePodSandbox driver", i))
	}
	k.opts.Bytes = k.Bytes()
	k.miss("10-little", "RemovePodSandbox p1")
	require.Equal(t, []string{"StopPodSandbox p1", "RemovePodSandbox p1"}, k.misses(t, "10-little"))
	require.Equal(t, "StopPodSandbox much1", k.misses(t, "20-much")[0], "the oldest is dropped")
	require.Len(t, k.misses(t, "30-driver"), 20)
	require.Equal(t, []string{"20-much limit 1"}, k.dropped)
	k.opts.Bytes = 0
	k.miss("10-little", "StopPodSandbox p2")
	require.Zero(t, k.Bytes(), "nothing is counted that does not exist")
}

// The objects that a name knows count, too: a name may hold nothing else.
func TestKnownObjectsAreBounded(t *testing.T) {
	k := newKept(t)
	k.goes("10-a", "p1")
	k.opts.Bytes = 4000
	pods := make([]string, 100)
	for i := range pods {
		pods[i] = fmt.Sprint("pod", i)
	}
	k.goes("20-b", pods...)
	require.Equal(t, []string{"10-a"}, k.has())
	require.Less(t, k.Bytes(), 4000)
	require.Equal(t, []string{"20-b limit 0"}, k.dropped, "it is not dropped in silence")
	k.reopen(Options{Bytes: 1})
	require.Empty(t, k.has(), "the budget applies to the file that is read, too")
}

// An end that many names have missed is kept once, until the last one has received it.
func TestEndIsKeptOnce(t *testing.T) {
	k := newKept(t)
	large := strings.Repeat("-", 100_000)
	for i := range names {
		k.goes(fmt.Sprint("10-n", i))
		k.Miss(fmt.Sprint("10-n", i), "StopPodSandbox", [2]string{"p1"}, large)
	}
	k.goes("10-n0")
	k.Miss("10-n0", "StopPodSandbox", [2]string{"p2"}, "other")
	require.Less(t, k.Bytes(), 150_000)
	k.reopen(Options{})
	require.Less(t, k.Bytes(), 150_000)
	for i := range names {
		missed := slices.Collect(k.Missed(fmt.Sprint("10-n", i)))
		require.Equal(t, large, missed[0].Request)
		k.Delivered(fmt.Sprint("10-n", i), "StopPodSandbox", [2]string{"p1"})
	}
	require.Less(t, k.Bytes(), 15_000)
	k.reopen(Options{})
	require.Len(t, k.ends, 1)
	require.Equal(t, []Due{{"StopPodSandbox", [2]string{"p2"}, "other"}}, slices.Collect(k.Missed("10-n0")))
}

// Two names may miss the same end with different requests, such as one with ids alone.
func TestEndsWithOtherRequestsAreOthers(t *testing.T) {
	k := newKept(t)
	k.goes("10-a")
	k.goes("20-b")
	k.Miss("10-a", "StopPodSandbox", [2]string{"p1"}, "whole")
	k.Miss("20-b", "StopPodSandbox", [2]string{"p1"}, "ids")
	k.Delivered("10-a", "StopPodSandbox", [2]string{"p1"})
	k.reopen(Options{})
	require.Empty(t, slices.Collect(k.Missed("10-a")))
	require.Equal(t, []Due{{"StopPodSandbox", [2]string{"p1"}, "ids"}}, slices.Collect(k.Missed("20-b")))
}

func TestNameDisconnectedForTooLongIsForgotten(t *testing.T) {
	k := newKept(t)
	k.goes("10-gone")
	k.Joined("20-here", wants)
	k.miss("10-gone", "StopPodSandbox p1")
	k.miss("20-here", "StopPodSandbox p1")
	k.now = k.now.Add(23 * time.Hour)
	k.miss("10-gone", "StopPodSandbox p2")
	require.Len(t, k.misses(t, "10-gone"), 2)
	k.now = k.now.Add(2 * time.Hour)
	require.False(t, k.Miss("10-gone", "StopPodSandbox", [2]string{"p3"}, ""), "disconnected for 25 hours")
	require.Equal(t, []string{"StopPodSandbox p1"}, k.misses(t, "20-here"))
	require.Equal(t, []string{"10-gone age 2"}, k.dropped)
}

// Setting the clock between two runs drops nothing: the second run counts the time from its
// own start.
func TestClockThatJumpsDropsNothing(t *testing.T) {
	for _, by := range []time.Duration{-1000 * time.Hour, 1000 * time.Hour} {
		k := newKept(t)
		k.goes("10-a")
		k.miss("10-a", "StopPodSandbox p1")
		k.now = k.now.Add(by)
		k.reopen(Options{})
		k.now = k.now.Add(23 * time.Hour)
		require.Len(t, k.misses(t, "10-a"), 1, "set by %s", by)
		k.now = k.now.Add(2 * time.Hour)
		require.Empty(t, k.has(), "set by %s", by)
	}
}

// Plugins that use a new name each time displace no name that holds anything.
func TestNamesAreBounded(t *testing.T) {
	k := newKept(t)
	k.goes("50-knows", "p1")
	k.goes("50-missed")
	k.miss("50-missed", "StopPodSandbox p1")
	k.Joined("50-here", wants)
	for i := range names + 10 {
		k.goes(fmt.Sprintf("10-n%d", i))
	}
	require.Len(t, k.has(), names)
	require.NotContains(t, k.has(), "10-n9", "the name that is disconnected for longest is dropped")
	require.Subset(t, k.has(), []string{"10-n73", "50-knows", "50-missed", "50-here"})
	require.Empty(t, k.crowded)
	require.Empty(t, k.dropped)
}

// If all names hold something, a new one is not kept, unless it is reserved.
func TestNamesThatHoldSomethingKeepTheirPlace(t *testing.T) {
	k := newKept(t)
	k.reopen(Options{Reserved: func(name string) bool { return strings.HasSuffix(name, "driver") }})
	k.goes("00-driver", "p1")
	for i := range names - 1 {
		k.goes(fmt.Sprint("10-n", i), "p1")
	}
	before := k.has()
	k.goes("20-late", "p1")
	require.Equal(t, before, k.has())
	require.False(t, k.Miss("20-late", "StopPodSandbox", [2]string{"p1"}, ""))
	require.Equal(t, []string{"20-late"}, k.crowded)
	k.goes("30-driver", "p1")
	require.Subset(t, k.has(), []string{"00-driver", "30-driver", "10-n1"})
	require.NotContains(t, k.has(), "10-n0")
	require.Len(t, k.has(), names)
}

// A caller can note ends while another one waits for the file.
func TestNotingDoesNotWaitForTheFile(t *testing.T) {
	k := newKept(t)
	k.Joined("10-a", wants)
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 20 {
				k.miss("10-a", fmt.Sprintf("StopPodSandbox p%d-%d", w, i))
				k.Sync()
			}
		})
	}
	all.Wait()
	k.reopen(Options{})
	require.Len(t, k.misses(t, "10-a"), 160)
	require.Empty(t, k.failures())
}
