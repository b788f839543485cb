// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/containerd/containerd/v2/internal/tomlext"
)

// ends is a plugin that keeps which ends it received.
type ends struct {
	mu       sync.Mutex // guards the field below
	received []string
}

func (p *ends) RunPodSandbox(context.Context, *api.PodSandbox) error { return nil }

func (p *ends) StopPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.hears("stop " + pod.GetName())
}

func (p *ends) RemovePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.hears("remove " + pod.GetName())
}

func (p *ends) hears(end string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = append(p.received, end)
	return nil
}

func (p *ends) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.received)
}

// rememberingNRI is an NRI of containerd that keeps missed events in a folder.
type rememberingNRI struct {
	*local
	t        *testing.T
	root     string
	sockets  string
	settings func(*Config)
}

func newRememberingNRI(t *testing.T, settings func(*Config)) *rememberingNRI {
	o := &rememberingNRI{t: t, root: filepath.Join(t.TempDir(), "root"), sockets: t.TempDir(), settings: settings}
	o.start()
	t.Cleanup(func() { o.Stop() })
	return o
}

func (o *rememberingNRI) file() string { return filepath.Join(o.root, missedEventsFile) }

func (o *rememberingNRI) start() {
	o.t.Helper()
	c := DefaultConfig().MissedEventsIn(o.root)
	c.SocketPath, c.PluginPath = filepath.Join(o.sockets, "nri.sock"), filepath.Join(o.sockets, "plugins")
	if o.settings != nil {
		o.settings(c)
	}
	api, err := New(c, nil)
	require.NoError(o.t, err)
	o.local = api.(*local)
	require.NoError(o.t, o.Start())
}

const soon = time.Minute

// comes connects a plugin. The function disconnects it, and returns when NRI has noticed.
func (o *rememberingNRI) comes() (*ends, func()) {
	o.t.Helper()
	p := &ends{}
	s, err := stub.New(p, stub.WithPluginName("ends"), stub.WithPluginIdx("10"), stub.WithSocketPath(filepath.Join(o.sockets, "nri.sock")))
	require.NoError(o.t, err)
	require.NoError(o.t, s.Start(context.Background()))
	o.t.Cleanup(s.Stop)
	require.Eventually(o.t, func() bool {
		plugins := o.Status().Plugins
		return slices.ContainsFunc(plugins, func(p PluginStatus) bool { return p.Name == "ends" && p.Synchronized })
	}, soon, time.Millisecond)
	return p, func() {
		s.Stop()
		require.Eventually(o.t, func() bool {
			return !o.cfg.KeepMissedEvents || len(o.Status().DisconnectedPlugins) == 1
		}, soon, time.Millisecond)
	}
}

func (o *rememberingNRI) runs(pod string) {
	o.t.Helper()
	require.NoError(o.t, o.nri.RunPodSandbox(context.Background(), &nri.RunPodSandboxRequest{Pod: &nri.PodSandbox{Id: pod, Name: pod}}))
}

func (o *rememberingNRI) ends(pod string) {
	o.t.Helper()
	of := &nri.PodSandbox{Id: pod, Name: pod}
	require.NoError(o.t, o.nri.StopPodSandbox(context.Background(), &nri.StopPodSandboxRequest{Pod: of}))
	require.NoError(o.t, o.nri.RemovePodSandbox(context.Background(), &nri.RemovePodSandboxRequest{Pod: of}))
}

func (o *rememberingNRI) requireHeard(p *ends, received ...string) {
	o.t.Helper()
	require.Eventually(o.t, func() bool { return slices.Equal(p.heard(), received) }, soon, time.Millisecond, "%v", received)
}

// A disconnected plugin is shown, and receives its missed events, also after a restart.
func TestMissedEvents(t *testing.T) {
	for name, restarts := range map[string]bool{"at once": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			o := newRememberingNRI(t, nil)
			_, goes := o.comes()
			o.runs("pod0")
			goes()
			o.ends("pod0")
			if restarts {
				o.Stop()
				o.start()
			}
			gone := o.Status().DisconnectedPlugins
			require.Len(t, gone, 1)
			require.Equal(t, "10-ends", gone[0].Name)
			require.Equal(t, 2, gone[0].Missed)
			require.False(t, gone[0].Since.IsZero())
			text, err := json.Marshal(gone[0])
			require.NoError(t, err)
			require.Contains(t, string(text), `"missed":2`)
			require.Contains(t, metricsOf(t, "10-ends"), "containerd_nri_plugin_missed_events_kept")
			require.Contains(t, metricsOf(t, "10-ends"), "containerd_nri_plugin_missed_events_total")

			p, _ := o.comes()
			o.requireHeard(p, "stop pod0", "remove pod0")
			require.Empty(t, o.Status().DisconnectedPlugins)
			require.Eventually(t, func() bool {
				return slices.Contains(metricsOf(t, "10-ends"), "containerd_nri_plugin_missed_events_delivered_total")
			}, soon, time.Millisecond)
		})
	}
}

// Only containerd's user can read the file.
func TestMissedEventsFileIsPrivate(t *testing.T) {
	o := newRememberingNRI(t, nil)
	for path, mode := range map[string]os.FileMode{o.root: 0o700, o.file(): 0o600} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
}

// An operator has a plugin forgotten by its name. The error names the disconnected plugins.
func TestForgetPlugin(t *testing.T) {
	o := newRememberingNRI(t, nil)
	_, err := o.ForgetPlugin("10-ends")
	require.ErrorIs(t, err, errdefs.ErrNotFound)
	_, goes := o.comes()
	o.runs("pod0")
	_, err = o.ForgetPlugin("10-ends")
	require.ErrorIs(t, err, errdefs.ErrNotFound, "it is connected")
	goes()
	o.ends("pod0")
	_, err = o.ForgetPlugin("ends")
	require.ErrorIs(t, err, errdefs.ErrNotFound)
	require.ErrorContains(t, err, "10-ends")
	forgotten, err := o.ForgetPlugin("10-ends")
	require.NoError(t, err)
	require.Equal(t, 2, forgotten)
	require.Empty(t, o.Status().DisconnectedPlugins)
	require.Contains(t, metricsOf(t, "10-ends"), "containerd_nri_plugin_missed_events_dropped_total")
	o.Stop()
	o.start()
	require.Empty(t, o.Status().DisconnectedPlugins)
	_, err = (&local{cfg: &Config{Disable: true}}).ForgetPlugin("10-ends")
	require.ErrorIs(t, err, errdefs.ErrFailedPrecondition)
}

// Where the file cannot be used for any reason, missed events are kept in memory.
func TestMissedEventsWithoutAFile(t *testing.T) {
	for name, spoil := range map[string]func(o *rememberingNRI) error{
		"corrupt": func(o *rememberingNRI) error {
			return os.WriteFile(o.file(), []byte(strings.Repeat("no pages ", 10000)), 0o600)
		},
		"a folder":         func(o *rememberingNRI) error { return os.MkdirAll(filepath.Join(o.file(), "in the way"), 0o700) },
		"no folder for it": func(o *rememberingNRI) error { return os.WriteFile(o.root, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			o := newRememberingNRI(t, nil)
			o.Stop()
			require.NoError(t, os.RemoveAll(o.file()))
			if name == "no folder for it" {
				require.NoError(t, os.RemoveAll(o.root))
			}
			require.NoError(t, spoil(o))
			failures := storeFailures(t)
			o.start()
			require.Greater(t, storeFailures(t), failures)
			_, goes := o.comes()
			o.runs("pod0")
			goes()
			o.ends("pod0")
			p, _ := o.comes()
			o.requireHeard(p, "stop pod0", "remove pod0")
		})
	}
}

// storeFailures is the count of failures of the store.
func storeFailures(t *testing.T) (failures float64) {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "containerd_nri_missed_events_store_failures_total" {
			failures += f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return failures
}

// A name that is reserved, with its index or without, is not forgotten for another name.
func TestReservedNamesComeFirst(t *testing.T) {
	c := &Config{Plugins: map[string]PluginConfig{
		"driver":    {AllowedUsers: []uint32{0}},
		"10-helper": {AllowedNamespaces: []string{"kube-system"}},
		"logger":    {},
	}}
	for name, reserved := range map[string]bool{
		"10-driver": true, "20-driver": true, "10-helper": true, "20-helper": false, "10-logger": false, "10-other": false,
	} {
		require.Equal(t, reserved, c.isReserved(name), name)
	}
}

// The bytes that are kept are a metric.
func TestMissedBytes(t *testing.T) {
	o := newRememberingNRI(t, nil)
	require.Zero(t, gaugeValue(t, "containerd_nri_missed_events_bytes"))
	_, goes := o.comes()
	there := gaugeValue(t, "containerd_nri_missed_events_bytes")
	o.runs("pod0")
	goes()
	require.Greater(t, gaugeValue(t, "containerd_nri_missed_events_bytes"), there)
	_, err := o.ForgetPlugin("10-ends")
	require.NoError(t, err)
	require.Zero(t, gaugeValue(t, "containerd_nri_missed_events_bytes"))
}

// gaugeValue is the value of a gauge without labels.
func gaugeValue(t *testing.T, name string) float64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// If switched off, no missed events are kept, and the kept ones are dropped.
func TestMissedEventsSwitchedOff(t *testing.T) {
	o := newRememberingNRI(t, nil)
	_, goes := o.comes()
	o.runs("pod0")
	goes()
	o.ends("pod0")
	o.Stop()
	o.settings = func(c *Config) { c.KeepMissedEvents = false }
	o.start()
	require.NoFileExists(t, o.file())
	_, err := o.ForgetPlugin("10-ends")
	require.ErrorIs(t, err, errdefs.ErrNotFound)
	o.Stop()
	o.settings = nil
	o.start()
	require.Empty(t, o.Status().DisconnectedPlugins)
}

// Invalid settings are rejected.
func TestMissedEventsSettings(t *testing.T) {
	for setting, spoil := range map[string]func(*Config){
		"missed_events_ttl":   func(c *Config) { c.MissedEventsTTL = tomlext.FromStdTime(-time.Second) },
		"missed_events_bytes": func(c *Config) { c.MissedEventsBytes = -1 },
	} {
		c := DefaultConfig()
		spoil(c)
		_, err := New(c, nil)
		require.ErrorContains(t, err, setting)
	}
}

// Few names that are not kept are logged at a time, however many there are.
func TestNamesThatAreNotKeptAreLoggedSparingly(t *testing.T) {
	said, all := 0, 0
	crowded := sparingly(func(_ string, leftOut int) { said, all = said+1, all+1+leftOut })
	for range 10000 {
		crowded("10-logger")
	}
	require.GreaterOrEqual(t, said, 10)
	require.Less(t, said, 20)
	require.LessOrEqual(t, all, 10000)
}
