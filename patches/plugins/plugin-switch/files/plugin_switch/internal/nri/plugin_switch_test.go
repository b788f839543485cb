// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/pkg/stub"
)

func (o *rememberingNRI) registers() error {
	s, err := stub.New(&ends{}, stub.WithPluginName("ends"), stub.WithPluginIdx("10"), stub.WithSocketPath(filepath.Join(o.sockets, "nri.sock")))
	require.NoError(o.t, err)
	defer s.Stop()
	return s.Start(context.Background())
}

func pluginsOffMetric(t *testing.T) float64 {
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "containerd_nri_plugins_off" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return -1
}

// A plugin that is off stays off over a restart, is shown, and receives what was shown when it is on.
func TestTurnedOffPluginStaysOff(t *testing.T) {
	ctx := context.Background()
	o := newRememberingNRI(t, nil)
	o.comes()
	o.runs("pod0")
	off, err := o.TurnOffPlugin(ctx, "10-ends")
	require.NoError(t, err)
	require.True(t, off.WasConnected)
	require.Empty(t, off.RequiredFor)
	require.Eventually(t, func() bool { return len(o.Status().DisconnectedPlugins) == 1 }, soon, time.Millisecond)
	o.ends("pod0")
	since := o.Status().PluginsOff[0].Since

	o.Stop()
	o.start()
	require.ErrorContains(t, o.registers(), "plugin 10-ends is turned off")
	shown := o.Status().PluginsOff
	require.Len(t, shown, 1)
	require.Equal(t, "10-ends", shown[0].Name)
	require.WithinDuration(t, since, shown[0].Since, 5*time.Second, "it begins anew")
	require.Equal(t, 1.0, pluginsOffMetric(t))

	require.NoError(t, o.TurnOnPlugin(ctx, "10-ends"))
	require.ErrorContains(t, o.TurnOnPlugin(ctx, "10-ends"), "no plugin is turned off")
	p, _ := o.comes()
	o.requireHeard(p, "stop pod0", "remove pod0")
	o.Stop()
	o.start()
	o.comes()
	require.Empty(t, o.Status().PluginsOff)
}

func TestTurnOffErrors(t *testing.T) {
	ctx := context.Background()
	o := newRememberingNRI(t, func(c *Config) {
		c.Plugins = map[string]PluginConfig{"guards": {RequiredFor: []string{"pods"}}}
	})
	_, err := o.TurnOffPlugin(ctx, "guards")
	require.True(t, errdefs.IsInvalidArgument(err), "%v", err)
	off, err := o.TurnOffPlugin(ctx, "10-guards")
	require.NoError(t, err)
	require.False(t, off.WasConnected)
	require.Equal(t, []string{"pods"}, off.RequiredFor)
	off, err = o.TurnOffPlugin(ctx, "10-other")
	require.NoError(t, err)
	require.Empty(t, off.RequiredFor)
	require.NoError(t, o.TurnOnPlugin(ctx, "10-other"))
	err = o.TurnOnPlugin(ctx, "20-guards")
	require.True(t, errdefs.IsNotFound(err), "%v", err)
	require.ErrorContains(t, err, `"20-guards" is not turned off, but 10-guards`)
}

// A required plugin whose other index is turned off is still there.
func TestTurnOffOfAnotherIndexLacksNothing(t *testing.T) {
	o := newRememberingNRI(t, func(c *Config) {
		c.Plugins = map[string]PluginConfig{"ends": {RequiredFor: []string{"pods"}}}
	})
	o.comes()
	off, err := o.TurnOffPlugin(context.Background(), "20-ends")
	require.NoError(t, err)
	require.Empty(t, off.RequiredFor)
	off, err = o.TurnOffPlugin(context.Background(), "10-ends")
	require.NoError(t, err)
	require.Equal(t, []string{"pods"}, off.RequiredFor)
}

// A switch that waits for a disk that hangs is turned, and so are others.
func TestTurnOffBesideAHangingDisk(t *testing.T) {
	ctx := context.Background()
	o := newRememberingNRI(t, nil)
	o.comes()
	o.switches.writing <- struct{}{} // the disk hangs
	for _, name := range []string{"20-other", "10-ends"} {
		brief, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		_, err := o.TurnOffPlugin(brief, name)
		require.ErrorContains(t, err, name+" is turned off until the next start of containerd")
	}
	require.ErrorContains(t, o.registers(), "plugin 10-ends is turned off")
	<-o.switches.writing
	require.Eventually(t, func() bool { return len(o.switches.folder.kept()) == 2 }, soon, time.Millisecond)
}

// A plugin that could not be turned on for good can be turned on again.
func TestTurnOnAgain(t *testing.T) {
	ctx := context.Background()
	o := newRememberingNRI(t, nil)
	_, err := o.TurnOffPlugin(ctx, "10-ends")
	require.NoError(t, err)
	file := filepath.Join(o.root, offDir, "10-ends")
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.MkdirAll(filepath.Join(file, "full"), 0o700))
	require.ErrorContains(t, o.TurnOnPlugin(ctx, "10-ends"), "10-ends is turned on until the next start of containerd")
	require.NoError(t, os.Remove(filepath.Join(file, "full")))
	require.NoError(t, o.TurnOnPlugin(ctx, "10-ends"))
	require.NoFileExists(t, file)
	require.True(t, errdefs.IsNotFound(o.TurnOnPlugin(ctx, "10-ends")))
}

// A switch works while its folder does not, and says what does not hold. Odd files turn nothing off,
// and hide no plugin that is off.
func TestTurnOffWithoutFolder(t *testing.T) {
	ctx := context.Background()
	o := newRememberingNRI(t, nil)
	folder := filepath.Join(o.root, offDir)
	require.NoError(t, os.WriteFile(folder, nil, 0o600))
	_, err := o.TurnOffPlugin(ctx, "10-ends")
	require.ErrorContains(t, err, "10-ends is turned off until the next start of containerd")
	require.ErrorContains(t, o.registers(), "turned off")
	o.Stop()
	o.start()
	o.comes()
	o.Stop()

	require.NoError(t, os.Remove(folder))
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "10-folder"), 0o700))
	for i := range 2 * mostOff {
		require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf(".odd%d", i)), nil, 0o600))
	}
	for _, name := range []string{"ends", "10-", "10-a b", "10-ends"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	o.start()
	require.Len(t, o.Status().PluginsOff, 1)
	require.ErrorContains(t, o.registers(), "turned off")
}

func TestTurnOffHasALimit(t *testing.T) {
	o := newRememberingNRI(t, nil)
	for i := range mostOff {
		_, err := o.TurnOffPlugin(context.Background(), "10-p"+string(rune('A'+i%26))+string(rune('a'+i/26)))
		require.NoError(t, err)
	}
	_, err := o.TurnOffPlugin(context.Background(), "20-more")
	require.True(t, errdefs.IsResourceExhausted(err), "%v", err)
	_, err = o.TurnOffPlugin(context.Background(), "10-pAa")
	require.NoError(t, err, "it is off already")
}
