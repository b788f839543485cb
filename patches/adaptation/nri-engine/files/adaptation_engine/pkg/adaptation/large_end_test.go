// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/pkg/api"
)

// A plugin receives the end of a container that has become too large for a message.
func TestEndThatIsTooLargeIsDelivered(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	rt := newLockingRuntime(t, dir)
	p := &mockPlugin{idx: "10", name: "logger"}
	started(t, dir, p)
	require.NoError(t, p.Wait(PluginSynchronized, time.After(soon)))
	pod, ctr := &api.PodSandbox{Id: "pod0"}, &api.Container{Id: "ctr0", PodSandboxId: "pod0"}
	begin(t, rt.Adaptation, StopContainer, pod, ctr)
	large := &api.Container{Id: "ctr0", PodSandboxId: "pod0", StatusMessage: strings.Repeat("-", 5<<20)}
	_, err := rt.StopContainer(ctx, &api.StopContainerRequest{Pod: pod, Container: large})
	require.NoError(t, err)
	require.True(t, p.EventQ().Has(ContainerEvent(ctr, StopContainer)))
	require.NoError(t, rt.RemoveContainer(ctx, &api.RemoveContainerRequest{Pod: pod, Container: large}))
	require.True(t, p.EventQ().Has(ContainerEvent(ctr, RemoveContainer)))
}
