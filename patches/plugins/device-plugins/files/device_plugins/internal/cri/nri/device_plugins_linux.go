// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"fmt"

	"github.com/containerd/errdefs"
	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/plugin"
	"tags.cncf.io/container-device-interface/pkg/cdi"
)

// GetRequiredPlugins returns the plugins that the CDI devices of a new container require by their specifications.
// The devices are those that the client names, in the field for them or in annotations.
func (c *criContainer) GetRequiredPlugins() ([]string, error) {
	if c.meta == nil {
		return nil, nil
	}
	_, devices, err := cdi.ParseAnnotations(c.meta.Config.GetAnnotations())
	if err != nil {
		return nil, fmt.Errorf("CDI devices in annotations: %w: %w", errdefs.ErrInvalidArgument, err)
	}
	for _, d := range c.meta.Config.GetCDIDevices() {
		devices = append(devices, d.GetName())
	}
	specifications, err := specificationsOf(devices)
	if err != nil {
		return nil, err
	}
	return specifications.required(devices)
}

// GetRequiredPlugins returns no plugins: the client names no devices of a pod.
func (p *criPodSandbox) GetRequiredPlugins() ([]string, error) { return nil, nil }

// specifications are the specifications of CDI devices.
type specifications struct{ cache *cdi.Cache }

// specificationsOf reads them from the disk if there are devices. The cache that all containers share follows the
// disk with a delay, and a driver may have written a specification just before.
func specificationsOf(devices []string) (specifications, error) {
	if len(devices) == 0 {
		return specifications{}, nil
	}
	folders := cdi.GetDefaultCache().GetSpecDirectories()
	cache, err := cdi.NewCache(cdi.WithSpecDirs(folders...), cdi.WithAutoRefresh(false))
	if err != nil {
		return specifications{}, fmt.Errorf("read the specifications of CDI devices in %q: %w", folders, err)
	}
	return specifications{cache}, nil
}

// required returns the plugins that devices require. It is an error if one has no specification: without it
// the device requires plugins that are not known.
func (s specifications) required(devices []string) (all []string, err error) {
	for _, name := range devices {
		device := s.cache.GetDevice(name)
		if device == nil {
			return nil, fmt.Errorf("CDI device %.256q has no specification any more: %w", name, errdefs.ErrFailedPrecondition)
		}
		plugins, err := requiredBy(device)
		if err != nil {
			return nil, err
		}
		all = append(all, plugins...)
	}
	return all, nil
}

// requiredBy returns the plugins that a device requires, and those of all devices in its file.
func requiredBy(device *cdi.Device) (all []string, err error) {
	file := device.GetSpec()
	for _, annotations := range []map[string]string{file.Annotations, device.Annotations} {
		value, ok := annotations[plugin.RequiredPluginsAnnotation]
		if !ok {
			continue
		}
		plugins, err := nri.RequiredIn(value)
		if err != nil {
			return nil, fmt.Errorf("CDI device %s in %s: %w: %w", device.GetQualifiedName(), file.GetPath(), errdefs.ErrFailedPrecondition, err)
		}
		all = append(all, plugins...)
	}
	return all, nil
}
