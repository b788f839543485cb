// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// If the file cannot be used, the only loss is that missed events do not survive a restart.
func TestL18_BrokenStoreBlocksNothing(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	p := JoinNamed(t, n, plugin.Script{Index: "10", Name: "disconnected"})
	file := filepath.Join(n.Folder(), "root", "io.containerd.nri.v1.nri", "missed-events.db")
	folder := filepath.Dir(file)
	mount := func(options string) error {
		return n.Within(func() error { return unix.Mount("tmpfs", folder, "tmpfs", 0, options) })
	}
	unmount := func() error { return n.Within(func() error { return unix.Unmount(folder, unix.MNT_DETACH) }) }
	nothing := func() error { return nil }
	var locked *os.File
	for _, spoilt := range []struct {
		name          string
		before, after func() error // the start of the runtime
		mend          func() error
	}{
		{"corrupt", func() error { return os.WriteFile(file, make([]byte, 1<<16), 0o600) }, nothing, nothing},
		{"cut short", func() error { return os.Truncate(file, 5000) }, nothing, nothing},
		{"a folder", func() error {
			return errors.Join(os.RemoveAll(file), os.MkdirAll(filepath.Join(file, "in the way"), 0o700))
		}, nothing, func() error { return os.RemoveAll(file) }},
		{"locked by another process", func() (err error) {
			if locked, err = os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
				return err
			}
			return unix.Flock(int(locked.Fd()), unix.LOCK_EX)
		}, nothing, func() error { return locked.Close() }},
		{"on a read-only file system", func() error {
			return n.Within(func() error { return unix.Mount("tmpfs", folder, "tmpfs", unix.MS_RDONLY, "") })
		}, nothing, unmount},
		{"on a full disk", func() error { return mount("size=4k") }, nothing, unmount},
		{"on a disk that fills up", func() error { return mount("size=1m") }, func() error {
			return n.Within(func() error {
				if err := os.WriteFile(filepath.Join(folder, "ballast"), make([]byte, 1<<21), 0o600); !errors.Is(err, unix.ENOSPC) {
					return errors.Join(errors.New("the disk is not full"), err)
				}
				return nil
			})
		}, unmount},
	} {
		require.NoError(t, n.Kill(WithinAMinute(t)))
		require.NoError(t, os.MkdirAll(folder, 0o700))
		require.NoError(t, spoilt.before(), spoilt.name)
		require.NoError(t, n.Boot(WithinAMinute(t)), "the runtime starts with a store that is "+spoilt.name)
		p.Comes(t)
		require.NoError(t, spoilt.after(), spoilt.name)
		l := NewLife(t, n, "pod")
		p.Goes(t)
		l.End(t)
		p.Comes(t)
		Promise(t, "L18", "ends are kept in memory, with a store that is "+spoilt.name, OnStock(NeverHears), func(t require.TestingT) {
			p.RequireDelivered(t, l.Pod, EveryEnd...)
		})
		Promise(t, "L17", "the failure is counted and logged, with a store that is "+spoilt.name, OnStock("it has no store"), func(t require.TestingT) {
			RequireSoon(t, "the failure", func(ctx context.Context) error {
				failures, err := n.Metrics(ctx, "containerd_nri_missed_events_store_failures_total")
				if err == nil && failures[""] <= 0 {
					err = fmt.Errorf("failures are %v", failures)
				}
				return errors.Join(err, HasLogged(n, "failed to keep the missed events of NRI plugins"))
			})
		})
		p.Goes(t)
		require.NoError(t, n.Stop(WithinAMinute(t)))
		require.NoError(t, spoilt.mend(), spoilt.name)
		require.NoError(t, n.Boot(WithinAMinute(t)))
	}
	p.Comes(t)
	l := NewLife(t, n, "afterwards")
	p.Goes(t)
	l.End(t)
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	p.Comes(t)
	Promise(t, "L18", "a store that works again keeps ends over a restart", OnStock(NeverHears), func(t require.TestingT) {
		p.RequireDelivered(t, l.Pod, EveryEnd...)
	})
}

// A plugin that does not reconnect costs no more than the settings allow, and no pod waits for it.
func TestL18_PluginThatNeverComesBackIsForgotten(t *testing.T) {
	t.Parallel()
	const settings = "version = 4\n[plugins.'io.containerd.nri.v1.nri']\nmissed_events_bytes = 12000\n"
	n := StartNode(t, WithConfig(settings))
	p := JoinNamed(t, n, plugin.Script{Index: "10", Name: "never"})
	var lives []Life
	for _, name := range []string{"a", "b", "c"} {
		lives = append(lives, NewLife(t, n, name))
	}
	p.Goes(t)
	for _, l := range lives {
		l.End(t)
	}
	kept, err := n.Metrics(WithinAMinute(t), "containerd_nri_missed_events_bytes")
	missed := 0
	Promise(t, "L18", "no more is kept than the settings allow, and dropped events are counted", OnStock("it keeps nothing"), func(t require.TestingT) {
		gone := ReadNRI(t, n).DisconnectedPlugins
		require.Len(t, gone, 1)
		missed = gone[0].Missed
		require.Positive(t, missed)
		require.Less(t, missed, len(lives)*len(EveryEnd))
		RequireMetric(t, n, "containerd_nri_plugin_missed_events_dropped_total", `{plugin="10-never",reason="limit"}`, float64(len(lives)*len(EveryEnd)-missed))
		require.NoError(t, err)
		require.LessOrEqual(t, kept[""], 12000.0)
	})
	require.NoError(t, SaysNow(t, n, settings+"missed_events_ttl = '1ms'\n"))
	Promise(t, "L18", "a plugin that is disconnected for too long is forgotten", OnStock("it keeps nothing"), func(t require.TestingT) {
		require.Empty(t, ReadNRI(t, n).DisconnectedPlugins)
		RequireMetric(t, n, "containerd_nri_plugin_missed_events_dropped_total", `{plugin="10-never",reason="age"}`, float64(missed))
	})
	p.Comes(t)
	next := NewLife(t, n, "next")
	next.End(t)
	Promise(t, "L3", "it receives nothing about earlier pods if it reconnects nevertheless", KeptOnStock, func(t require.TestingT) {
		for _, l := range lives {
			assert.Empty(t, p.SinceReturn(l.Pod))
		}
		p.RequireDelivered(t, next.Pod, Whole...)
	})
}
