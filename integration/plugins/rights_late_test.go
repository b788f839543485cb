// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The answer of an overdue plugin is compared with its rights when it comes.
func TestL24_LateAnswerHasItsRights(t *testing.T) {
	t.Parallel()
	n := StartNode(t, func(o *node.Options) { o.RequestTimeout = 500 * time.Millisecond },
		WithConfig(PluginSetting("watcher", "rights = ['events']")))
	ctx := WithinAMinute(t)
	p := plugin.New("10", "watcher")
	p.FailurePolicy(&api.FailurePolicy{KeepConnected: true})
	Connect(t, n, p)
	ends, stays := NewLife(t, n, "ends"), NewLife(t, n, "stays")
	answer := make(chan struct{})
	p.On(plugin.StopContainer, func(_ context.Context, call *plugin.Call) error {
		<-answer
		call.Update = []*api.ContainerUpdate{{ContainerId: stays.Container, Linux: &api.LinuxContainerUpdate{
			Resources: &api.LinuxResources{Cpu: &api.LinuxCPU{Shares: &api.OptionalUInt64{Value: 512}}}}}}
		return nil
	})
	require.NoError(t, n.CRI().StopPod(ctx, ends.Pod))
	close(answer)
	Promise(t, "L24", "the update of a late answer without a right to it is not applied", OnStock(everythingMayBeDone), func(t require.TestingT) {
		RequireSoon(t, "the answer to be rejected", func(context.Context) error {
			missing, err := n.Metrics(ctx, "containerd_nri_plugin_missing_rights_total")
			if missing[`{plugin="watcher",right="update"}`] != 1 {
				return fmt.Errorf("missing rights are %v (%w)", missing, err)
			}
			return nil
		})
		status, err := n.CRI().Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: stays.Container})
		require.NoError(t, err)
		assert.NotEqual(t, int64(512), status.GetStatus().GetResources().GetLinux().GetCpuShares())
	})
}

// A plugin that containerd launches has the rights of its name.
func TestL24_LaunchedPluginHasItsRights(t *testing.T) {
	t.Parallel()
	for rights, receives := range map[string]bool{"'events'": true, "'events.RunPodSandbox'": false} {
		t.Run(rights, func(t *testing.T) {
			t.Parallel()
			record := filepath.Join(t.TempDir(), "record")
			n := StartNode(t, func(o *node.Options) {
				o.Config = ConfigLaunching(t, record) + "[plugins.'io.containerd.nri.v1.nri'.plugins.launched]\nrights = [" + rights + "]\n"
			})
			NewLife(t, n, "pod").End(t)
			if receives {
				assert.Contains(t, LinesOf(t, record), "RunPodSandbox pod")
				return
			}
			Promise(t, "L24", "it receives nothing, because it subscribes to more", OnStock(everythingMayBeDone), func(t require.TestingT) {
				require.NoError(t, HasLogged(n, "plugin 10-launched has no right to events.StopPodSandbox, events.RemovePodSandbox"))
				require.NoFileExists(t, record)
			})
		})
	}
}
