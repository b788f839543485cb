// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/nri/pkg/api"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// everythingMayBeDone is how stock breaks the limits of a plugin.
const everythingMayBeDone = "any plugin may do everything"

// helperAlone limits all plugins to nothing, and gives rights to the helper of one namespace.
const helperAlone = NoRule + anyUserMayConnect + `plugin_rights = ['none']
[plugins.'io.containerd.nri.v1.nri'.plugins.helper]
allowed_namespaces = ['helpers']
rights = ['events.RunPodSandbox', 'events.CreateContainer', 'adjust.env']
`

// unprivileged makes a container one of a tenant: a user of its own without capabilities, and the
// socket mounted read-only.
func unprivileged(c *runtime.ContainerConfig) {
	c.Linux.SecurityContext.RunAsUser = &runtime.Int64Value{Value: 64123}
	c.Linux.SecurityContext.Capabilities = &runtime.Capability{DropCapabilities: []string{"ALL"}}
	c.Linux.SecurityContext.NoNewPrivs = true
	for _, m := range c.Mounts {
		m.Readonly = true
	}
}

// A plugin that runs in a pod, as a user without capabilities, does what its rights say, and nothing
// else.
func TestL24_PluginInAPodDoesWhatItsRightsSayAndNothingElse(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(helperAlone))
	name := importScripted(t.Context(), t, n)
	ctx := WithinAMinute(t)
	if RunsOnStock { // it has no such setting
		require.NoError(t, os.Chmod(n.NRISocket(), 0o666))
	}
	subscribes := []plugin.Event{plugin.RunPodSandbox, plugin.CreateContainer}
	env := &api.ContainerAdjustment{Env: []*api.KeyValue{{Key: "HELPED", Value: "yes"}}}
	helper := runsInImage(ctx, t, n, name, "helpers", plugin.Script{Index: "10", Name: "helper", Events: subscribes,
		Answers: map[plugin.Event]plugin.Answer{plugin.CreateContainer: {Adjust: env}}}, unprivileged)
	Promise(t, "L24", "a plugin with rights registers without privileges", KeptOnStock, func(t require.TestingT) {
		RequireSoon(t, "it to join", func(context.Context) error { return helper.has(plugin.Synchronize, "") })
	})
	pod := PodIn(n, "default", "pod", nil)
	id, err := n.CRI().RunPod(ctx, pod)
	require.NoError(t, err)
	Promise(t, "L24", "it adjusts what it has a right to", KeptOnStock, func(t require.TestingT) {
		require.NoError(t, createIn(ctx, n, id, pod, "helped"))
	})

	other := runsInImage(ctx, t, n, name, "default", plugin.Script{Index: "30", Name: "other", Events: subscribes}, unprivileged)
	Promise(t, "L24", "a plugin without rights receives nothing", OnStock(everythingMayBeDone), func(t require.TestingT) {
		RequireSoon(t, "the log", func(context.Context) error {
			return HasLogged(n, "plugin 30-other has no right to events.RunPodSandbox, events.CreateContainer")
		})
		require.NotContains(t, other.read().calls, plugin.Synchronize)
	})
	more := &api.ContainerAdjustment{
		Hooks:  &api.Hooks{CreateRuntime: []*api.Hook{{Path: "/bin/true", Args: []string{"true"}}}},
		Mounts: []*api.Mount{{Type: "bind", Source: "/etc", Destination: "/of-the-node", Options: []string{"bind"}}},
		Linux:  &api.LinuxContainerAdjustment{Devices: []*api.LinuxDevice{{Path: "/dev/kmsg", Type: "c", Major: 1, Minor: 11}}},
	}
	greedy := runsInImage(ctx, t, n, name, "helpers", plugin.Script{Index: "20", Name: "helper", Events: subscribes,
		Answers: map[plugin.Event]plugin.Answer{plugin.CreateContainer: {Adjust: more}}}, unprivileged)
	RequireSoon(t, "it to join", func(context.Context) error { return greedy.has(plugin.Synchronize, "") })
	Promise(t, "L24", "an answer that asks for more is an error of the plugin, which names what it lacks", OnStock(everythingMayBeDone), func(t require.TestingT) {
		err := createIn(ctx, n, id, pod, "greedy")
		require.ErrorContains(t, err, "CreateContainer rejected: plugin 20-helper has no right to adjust.hooks, adjust.linux.devices, adjust.mounts")
		require.Equal(t, codes.PermissionDenied, status.Code(err))
	})

	Promise(t, "L17", "what plugins lack is counted, and their rights are shown", OnStock("it rejects nothing"), func(t require.TestingT) {
		shown := ReadNRI(t, n).Shown("10-helper")
		require.Len(t, shown, 1)
		assert.Equal(t, []string{"events.RunPodSandbox", "events.CreateContainer", "adjust.env"}, shown[0].Rights)
		missing, err := n.Metrics(ctx, "containerd_nri_plugin_missing_rights_total")
		require.NoError(t, err)
		assert.EqualValues(t, 1, missing[`{plugin="helper",right="adjust.hooks"}`])
		assert.EqualValues(t, 1, missing[`{plugin="other",right="events.RunPodSandbox"}`])
	})
}

// A plugin does not get the rights of another one by a name that looks like it.
func TestL24_NameThatBeginsWithAnIndexHasNoRightsOfAnother(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(NoRule+`[plugins.'io.containerd.nri.v1.nri']
plugin_rights = ['none']
[plugins.'io.containerd.nri.v1.nri'.plugins.free]
allowed_users = [64123]
[plugins.'io.containerd.nri.v1.nri'.plugins.'20-free']
rights = ['events', 'adjust']
`))
	thief := StartProcess(t, n, plugin.Script{Index: "10", Name: "20-free"})
	Promise(t, "L24", "it is rejected", OnStock(everythingMayBeDone), func(t require.TestingT) {
		requireKeptOut(t, thief, "it is the index and name of another plugin")
	})
}

// A plugin asks for updates of others only if it has a right to, and never before it has registered.
func TestL24_UpdatesNeedARight(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(NoRule+`[plugins.'io.containerd.nri.v1.nri'.plugins.watcher]
rights = ['events']
`))
	ctx := WithinAMinute(t)
	pod, p := PodIn(n, "default", "pod", nil), plugin.New("10", "watcher")
	Connect(t, n, p)
	id, err := n.CRI().RunPod(ctx, pod)
	require.NoError(t, err)
	container, err := n.CRI().Create(ctx, id, pod, n.CRI().Container("updated"))
	require.NoError(t, err)
	update := []*api.ContainerUpdate{{ContainerId: container, Linux: &api.LinuxContainerUpdate{
		Resources: &api.LinuxResources{Cpu: &api.LinuxCPU{Shares: &api.OptionalUInt64{Value: 512}}}}}}
	Promise(t, "L24", "an update without a right to it fails", OnStock(everythingMayBeDone), func(t require.TestingT) {
		_, err := p.UpdateContainers(update)
		require.ErrorContains(t, err, "plugin 10-watcher has no right to update")
	})
	p.On(plugin.StopContainer, func(_ context.Context, call *plugin.Call) error {
		call.Update = update
		return nil
	})
	require.NoError(t, n.CRI().StopPod(ctx, id))
	Promise(t, "L24", "a stop goes on, without the updates that the plugin has no right to", OnStock(everythingMayBeDone), func(t require.TestingT) {
		RequireSoon(t, "the log", func(context.Context) error {
			return HasLogged(n, "StopContainer", "plugin 10-watcher has no right to update")
		})
	})
}

// createIn creates and starts a container of a pod.
func createIn(ctx context.Context, n *node.Node, id string, pod *runtime.PodSandboxConfig, name string) error {
	container, err := n.CRI().Create(ctx, id, pod, n.CRI().Container(name))
	if err != nil {
		return err
	}
	return n.CRI().Start(ctx, container)
}
