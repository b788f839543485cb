// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	nriplugin "github.com/containerd/nri/pkg/plugin"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	"k8s.io/dynamic-resource-allocation/resourceslice"
	"tags.cncf.io/container-device-interface/pkg/cdi"
	specs "tags.cncf.io/container-device-interface/specs-go"
)

// runDriver is a DRA driver without its part as an NRI plugin, which is another process: so that it prepares claims
// while the plugin is disconnected.
func runDriver(args []string) error {
	flags := flag.NewFlagSet("driver", flag.ExitOnError)
	name := flags.String("name", "", "name of the driver, and vendor of its CDI devices")
	plugin := flags.String("requires", "", "NRI plugin that its devices require")
	node := flags.String("node", "", "node of the devices")
	count := flags.Int("devices", 4, "how many devices it has")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	d := driver{kind: *name + "/device"}
	for i := range *count {
		d.devices = append(d.devices, "device-"+strconv.Itoa(i))
	}
	if err := d.specify(*plugin); err != nil {
		return err
	}
	data := filepath.Join("/var/lib/kubelet/plugins", *name)
	if err := os.MkdirAll(data, 0o750); err != nil {
		return err
	}
	helper, err := kubeletplugin.Start(ctx, d, kubeletplugin.DriverName(*name), kubeletplugin.NodeName(*node),
		kubeletplugin.KubeClient(client), kubeletplugin.PluginDataDirectoryPath(data))
	if err != nil {
		return fmt.Errorf("register with the kubelet: %w", err)
	}
	defer helper.Stop()
	var slice resourceslice.Slice
	for _, device := range d.devices {
		slice.Devices = append(slice.Devices, resourceapi.Device{Name: device})
	}
	resources := resourceslice.DriverResources{Pools: map[string]resourceslice.Pool{*node: {Slices: []resourceslice.Slice{slice}}}}
	if err := helper.PublishResources(ctx, resources); err != nil {
		return fmt.Errorf("publish %d devices: %w", *count, err)
	}
	<-ctx.Done()
	return nil
}

// A driver has devices, each with a CDI device of the same name.
type driver struct {
	kind    string // of its CDI devices
	devices []string
}

// specify writes the specification of the CDI devices, which requires a plugin.
func (d driver) specify(plugin string) error {
	spec := &specs.Spec{Version: "0.6.0", Kind: d.kind, Annotations: map[string]string{
		nriplugin.RequiredPluginsAnnotation: fmt.Sprintf("[ %s ]", plugin),
	}}
	for _, device := range d.devices {
		spec.Devices = append(spec.Devices, specs.Device{Name: device, ContainerEdits: specs.ContainerEdits{Env: []string{"DEVICE=" + device}}})
	}
	cache, err := cdi.NewCache(cdi.WithSpecDirs(cdi.DefaultDynamicDir), cdi.WithAutoRefresh(false))
	if err != nil {
		return err
	}
	name, err := cdi.GenerateNameForSpec(spec)
	if err != nil {
		return err
	}
	return cache.WriteSpec(spec, name)
}

// PrepareResourceClaims implements kubeletplugin.DRAPlugin.
func (d driver) PrepareResourceClaims(_ context.Context, claims []*resourceapi.ResourceClaim) (map[types.UID]kubeletplugin.PrepareResult, error) {
	prepared := map[types.UID]kubeletplugin.PrepareResult{}
	for _, claim := range claims {
		var result kubeletplugin.PrepareResult
		for _, r := range claim.Status.Allocation.Devices.Results {
			result.Devices = append(result.Devices, kubeletplugin.Device{
				Requests: []string{r.Request}, PoolName: r.Pool, DeviceName: r.Device, CDIDeviceIDs: []string{d.kind + "=" + r.Device},
			})
		}
		prepared[claim.UID] = result
	}
	return prepared, nil
}

// UnprepareResourceClaims implements kubeletplugin.DRAPlugin.
func (d driver) UnprepareResourceClaims(_ context.Context, claims []kubeletplugin.NamespacedObject) (map[types.UID]error, error) {
	unprepared := map[types.UID]error{}
	for _, claim := range claims {
		unprepared[claim.UID] = nil
	}
	return unprepared, nil
}

// HandleError implements kubeletplugin.DRAPlugin.
func (d driver) HandleError(_ context.Context, err error, what string) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
}

// WatchHealthStatus implements kubeletplugin.DRAPlugin.
func (d driver) WatchHealthStatus(context.Context, chan<- kubeletplugin.DeviceHealthReport) error {
	return kubeletplugin.ErrHealthNotSupported
}
