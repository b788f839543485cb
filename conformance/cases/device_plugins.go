// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The plugin of a device has never been connected: neither the pod nor a setting names it.
var _ = MustRun.has("L29_ContainerWithADeviceStartsOnlyWithItsPlugin", Needs{Devices: true}, func(t T) {
	n := t.Runtime()
	ctx, c := WithinAMinute(t), n.CRI()
	id, pod := podForDevices(ctx, t, n)
	other := NewPlugin(t, "10", "other")
	Connect(t, n, other)

	began := time.Now()
	_, err := c.Create(ctx, id, pod, ContainerWith(c, "early", OwnDevice))
	took := time.Since(began)
	t.Promise("L29", "a container with the device is rejected with the name of the plugin", OnStock(NotRequired), func(t require.TestingT) {
		RequireReadable(t, err, codes.Unavailable, DevicePlugin)
	})
	t.Words("L29", "the error names the container, and since when the plugin is disconnected", OnStock(NotRequired), func(t require.TestingT) {
		RequireReadable(t, err, codes.Unavailable, "container early of pod default/web", "is disconnected since")
	})
	t.Words("L29", "it has waited for the time that is set", OnStock(NotRequired), func(t require.TestingT) {
		assert.GreaterOrEqual(t, took, DeviceWait)
		assert.Less(t, took, 2*DeviceWait)
	})
	t.Promise("L29", "no plugin received it", OnStock(NotRequired), func(t require.TestingT) {
		assert.Empty(t, other.Calls().Only(plugin.CreateContainer).Events())
	})
	t.Promise("L29", "a container without the device needs no plugin", KeptOnStock, func(t require.TestingT) {
		_, err := c.Create(ctx, id, pod, c.Container("plain"))
		assert.NoError(t, err)
	})

	waits := InBackground(func() error {
		_, err := c.Create(ctx, id, pod, ContainerWith(c, "waits", OwnDevice))
		return err
	})
	driver := JoinProcess(t, n, plugin.Script{Index: "20", Name: DevicePlugin})
	err = <-waits
	t.Promise("L29", "a container that waits starts with the plugin's approval", SometimesOnStock(NotRequired), func(t require.TestingT) {
		require.NoError(t, err)
		RequireSoon(t, "its approval", func(context.Context) error { return HasAnsweredOf(driver, id, plugin.CreateContainer) })
	})
	t.Promise("L2", "the plugin has received the pod before", SometimesOnStock("a plugin may join during the creation"), func(t require.TestingT) {
		assert.True(t, receivedBefore(driver.Calls(), id, plugin.CreateContainer))
	})

	require.NoError(t, driver.Kill())
	AwaitShown(t, n, driver.Name(), 0)
	t.Promise("L8", "the ends do not wait for the plugin", KeptOnStock, func(t require.TestingT) {
		began := time.Now()
		RemoveAllPods(ctx, t, c)
		assert.Less(t, time.Since(began), DeviceWait)
		RequireNothingLeft(t, n)
	})
})

// podForDevices runs a pod, and makes the devices known with it.
func podForDevices(ctx context.Context, t T, n Runtime) (id string, config *runtime.PodSandboxConfig) {
	config = n.CRI().Pod("web")
	id, err := n.CRI().RunPod(ctx, config)
	require.NoError(t, err)
	SpecifyDevices(t, n, id, config)
	return id, config
}

// receivedBefore reports whether Synchronize had a pod, before an event of it.
func receivedBefore(calls plugin.Calls, pod string, event plugin.Event) bool {
	for _, call := range calls {
		switch call.Event {
		case plugin.Synchronize:
			for _, p := range call.Pods {
				if p.GetId() == pod {
					return true
				}
			}
		case event:
			return false
		}
	}
	return false
}

// The runtime is killed while the plugin is disconnected.
var _ = MustRun.has("L29_DeviceRequiresItsPluginAfterARestart", Needs{Devices: true, Restarts: true}, func(t T) {
	n := t.Runtime()
	ctx, c := WithinAMinute(t), n.CRI()
	id, pod := podForDevices(ctx, t, n)
	driver := JoinProcess(t, n, plugin.Script{Index: "20", Name: DevicePlugin})
	_, err := c.Create(ctx, id, pod, ContainerWith(c, "before", OwnDevice))
	require.NoError(t, err)
	require.NoError(t, driver.Kill())
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.Boot(ctx))

	_, err = c.Create(ctx, id, pod, ContainerWith(c, "after", OwnDevice))
	t.Promise("L29", "a container with the device is rejected with the name of the plugin", OnStock(NotRequired), func(t require.TestingT) {
		RequireReadable(t, err, codes.Unavailable, DevicePlugin)
	})
	JoinProcess(t, n, plugin.Script{Index: "20", Name: DevicePlugin})
	_, err = c.Create(ctx, id, pod, ContainerWith(c, "again", OwnDevice))
	t.Promise("L29", "it starts once the plugin is back", KeptOnStock, func(t require.TestingT) { assert.NoError(t, err) })
	RemoveAllPods(ctx, t, c)
	RequireNothingLeft(t, n)
})

// With the fields of KEP-4112, the pod itself requires the plugin of a device.
var _ = MustRun.has("L29_PodWithAnAnnouncedDeviceStartsOnlyWithItsPlugin", Needs{Devices: true, Announcements: true}, func(t T) {
	n := t.Runtime()
	ctx, c := WithinAMinute(t), n.CRI()
	podForDevices(ctx, t, n)
	announcing := func(name string, devices ...string) *runtime.PodSandboxConfig {
		pod := c.Pod(name)
		require.NoError(t, podresources.SetPod(pod, podresources.Pod{Containers: []podresources.Container{
			{Name: "setup", Type: podresources.InitContainer},
			{Name: "main", Type: podresources.MainContainer, CDIDevices: devices},
		}}))
		return pod
	}
	other := NewPlugin(t, "10", "other")
	Connect(t, n, other)

	for _, early := range []*runtime.PodSandboxConfig{
		announcing("early", FreeDevice, OwnDevice),
		OnHostNetwork(announcing("early", OwnDevice)), // which waits when its sandbox exists
	} {
		_, err := c.RunPod(ctx, early)
		t.Promise("L29", "the pod is rejected with the name of the plugin", OnStock(NotRequired), func(t require.TestingT) {
			RequireReadable(t, err, codes.Unavailable, DevicePlugin)
			assert.Empty(t, other.Calls().Named("early").Events())
		})
	}
	_, err := c.RunPod(ctx, announcing("free", FreeDevice, "conformance.example/device=unknown"))
	t.Promise("R4", "a pod that announces other devices, or unknown ones, needs no plugin", KeptOnStock, func(t require.TestingT) { assert.NoError(t, err) })
	driver := JoinProcess(t, n, plugin.Script{Index: "20", Name: DevicePlugin})
	id, err := c.RunPod(ctx, announcing("late", OwnDevice))
	t.Promise("L29", "the pod starts with the plugin's approval", KeptOnStock, func(t require.TestingT) {
		require.NoError(t, err)
		RequireSoon(t, "its approval", func(context.Context) error { return HasAnsweredOf(driver, id, plugin.RunPodSandbox) })
	})
	RemoveAllPods(ctx, t, c)
	RequireNothingLeft(t, n)
})
