// SPDX-License-Identifier: Apache-2.0

package owed

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

// kept is a store with what it reported.
type kept struct {
	*Store
	path string
	now  time.Time

	mu      sync.Mutex // guards what follows
	dropped []string
	failed  []error
}

func newKept(t *testing.T) *kept {
	k := &kept{path: filepath.Join(t.TempDir(), "nri", "owed.db"), now: time.Unix(1e9, 0).UTC()}
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

// owe notes ends such as "StopContainer p1 c1", each with a request of its own.
func (k *kept) owe(name string, ends ...string) {
	for _, e := range ends {
		f := append(strings.Fields(e), "")
		k.Owe(name, f[0], [2]string{f[1], f[2]}, []byte("request of "+e))
	}
}

// owes is what a name is owed, in order.
func (k *kept) owes(t *testing.T, name string) (ends []string) {
	t.Helper()
	for d := range k.Owes(name) {
		e := strings.TrimSpace(d.Kind + " " + d.Object[0] + " " + d.Object[1])
		require.Equal(t, "request of "+e, string(d.Request))
		ends = append(ends, e)
	}
	return ends
}

func (k *kept) knows(name string) map[[2]string]bool { return maps.Collect(k.Known(name)) }

func TestWhatIsNotedComesBack(t *testing.T) {
	k := newKept(t)
	k.Joined("10-a", wants)
	k.Joined("20-b", nil)
	k.now = k.now.Add(time.Minute)
	k.Left("10-a", maps.All(map[[2]string]bool{{"p1"}: false, {"p1", "c1"}: true, {"p2"}: false}))
	k.owe("10-a", "StopContainer p1 c2", "StopPodSandbox p1", "StopPodSandbox p1", "RemovePodSandbox p2")
	k.owe("20-b", "StopPodSandbox p3")
	require.Equal(t, 0, k.Paid("20-b", "StopPodSandbox", [2]string{"p3"}))
	require.Equal(t, 2, k.Paid("10-a", "StopContainer", [2]string{"p1", "c2"}))
	require.Equal(t, 2, k.Paid("10-a", "StopContainer", [2]string{"p1", "c2"}), "paid twice")
	for range 2 {
		require.Equal(t, map[string]Presence{
			"10-a": {Wants: wants, Away: k.now, Owed: 2},
			"20-b": {},
		}, maps.Collect(k.Names()))
		require.Equal(t, []string{"StopPodSandbox p1", "RemovePodSandbox p2"}, k.owes(t, "10-a"))
		require.Equal(t, map[[2]string]bool{{"p1"}: false, {"p1", "c1"}: true, {"p2"}: false}, k.knows("10-a"), "as it was told")
		k.reopen(Options{})
	}
	k.owe("10-a", "RemovePodSandbox p1")
	k.Joined("10-a", wants)
	k.reopen(Options{})
	require.Equal(t, []string{"StopPodSandbox p1", "RemovePodSandbox p2", "RemovePodSandbox p1"}, k.owes(t, "10-a"), "what came after a restart comes last")
	require.Empty(t, k.knows("10-a"), "one who is there is asked")
	require.Equal(t, 3, k.Forget("10-a"))
	k.reopen(Options{})
	require.Equal(t, []string{"20-b"}, slices.Collect(maps.Keys(maps.Collect(k.Names()))))
	require.False(t, k.Owe("10-a", "StopPodSandbox", [2]string{"p9"}, []byte{}))
	require.Empty(t, k.failures())
}

// What an end is dropped of is not known any more: else its end would be made up after a
// restart, by its ids alone.
func TestEndThatIsDroppedIsNotKnown(t *testing.T) {
	k := newKept(t)
	k.reopen(Options{Count: 1})
	k.Joined("10-a", wants)
	k.Left("10-a", maps.All(map[[2]string]bool{{"p1"}: false, {"p2"}: false}))
	k.owe("10-a", "RemovePodSandbox p1", "RemovePodSandbox p2")
	k.reopen(Options{})
	require.Equal(t, []string{"RemovePodSandbox p2"}, k.owes(t, "10-a"))
	require.Equal(t, map[[2]string]bool{{"p2"}: false}, k.knows("10-a"))
}

func TestOldestIsDroppedFirst(t *testing.T) {
	k := newKept(t)
	k.reopen(Options{Count: 2})
	k.Joined("10-a", wants)
	k.owe("10-a", "StopPodSandbox p1", "StopPodSandbox p2", "StopPodSandbox p3")
	require.Equal(t, []string{"StopPodSandbox p2", "StopPodSandbox p3"}, k.owes(t, "10-a"))
	k.reopen(Options{Bytes: 100})
	require.Len(t, k.owes(t, "10-a"), 2)
	k.owe("10-a", "StopPodSandbox p4")
	require.Equal(t, []string{"StopPodSandbox p3", "StopPodSandbox p4"}, k.owes(t, "10-a"))
	require.Equal(t, []string{"10-a limit 1", "10-a limit 1"}, k.dropped)
}

func TestTooOldIsDropped(t *testing.T) {
	k := newKept(t)
	k.Joined("10-away", wants)
	k.Joined("20-here", wants)
	k.Left("10-away", maps.All(map[[2]string]bool{}))
	k.owe("10-away", "StopPodSandbox p1")
	k.owe("20-here", "StopPodSandbox p1")
	k.now = k.now.Add(23 * time.Hour)
	k.owe("10-away", "StopPodSandbox p2")
	k.owe("20-here", "StopPodSandbox p2")
	require.Len(t, k.owes(t, "10-away"), 2)
	k.now = k.now.Add(2 * time.Hour)
	require.False(t, k.Owe("10-away", "StopPodSandbox", [2]string{"p3"}, []byte{}), "away for 25 hours")
	require.Equal(t, []string{"StopPodSandbox p2"}, k.owes(t, "20-here"))
	require.Equal(t, []string{"10-away age 2", "20-here age 1"}, slices.Sorted(slices.Values(k.dropped)))
}

// Plugins that make up a name each time do not fill the store.
func TestNamesAreBounded(t *testing.T) {
	k := newKept(t)
	for i := range names + 10 {
		name := fmt.Sprintf("10-n%d", i)
		k.now = k.now.Add(time.Second)
		k.Joined(name, wants)
		k.Left(name, maps.All(map[[2]string]bool{}))
	}
	all := maps.Collect(k.Names())
	require.Len(t, all, names)
	require.NotContains(t, all, "10-n9")
}

// Who notes while another waits for the file waits for nothing.
func TestNotingWaitsForNoFile(t *testing.T) {
	k := newKept(t)
	k.Joined("10-a", wants)
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 20 {
				k.owe("10-a", fmt.Sprintf("StopPodSandbox p%d-%d", w, i))
				k.Sync()
			}
		})
	}
	all.Wait()
	k.reopen(Options{})
	require.Len(t, k.owes(t, "10-a"), 160)
	require.Empty(t, k.failures())
}
