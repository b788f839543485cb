// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"

	"github.com/containerd/containerd/v2/internal/nri/operator"
)

// A plugin is shown once, with its state, and its outlook is what it receives next.
func TestOutlook(t *testing.T) {
	ctx := context.Background()
	o := newRememberingNRI(t, nil)
	_, err := o.OutlookOfPlugin(ctx, "10-ends")
	require.True(t, errdefs.IsNotFound(err), "%v", err)
	_, goes := o.comes()
	o.runs("pod0")
	states := func() (all []string) {
		plugins, err := o.Plugins()
		require.NoError(t, err)
		for _, p := range plugins {
			all = append(all, p.Name+" "+p.State)
		}
		return all
	}
	require.Contains(t, states(), "10-ends connected")
	before, err := o.OutlookOfPlugin(ctx, "10-ends")
	require.NoError(t, err)
	require.Equal(t, 1, before.Plugin.Pods)
	require.Zero(t, before.Missed)

	goes()
	o.ends("pod0")
	require.Contains(t, states(), "10-ends disconnected")
	off, err := o.TurnOffPlugin(ctx, "10-ends")
	require.NoError(t, err)
	require.False(t, off.WasConnected)
	require.Equal(t, []string{"10-ends off"}, states())
	outlook, err := o.OutlookOfPlugin(ctx, "10-ends")
	require.NoError(t, err)
	require.Equal(t, 2, outlook.Plugin.Events)
	require.Equal(t, []operator.MissedEvent{{Event: "StopPodSandbox", Pod: "pod0"}, {Event: "RemovePodSandbox", Pod: "pod0"}}, outlook.Oldest)

	require.NoError(t, o.TurnOnPlugin(ctx, "10-ends"))
	p, _ := o.comes()
	o.requireHeard(p, "stop pod0", "remove pod0")
	require.Eventually(t, func() bool {
		o, err := o.OutlookOfPlugin(ctx, "10-ends")
		return err == nil && o.Missed == 0
	}, soon, time.Millisecond)
}
