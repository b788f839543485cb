// SPDX-License-Identifier: Apache-2.0

package hookline

import (
	"fmt"

	"google.golang.org/protobuf/types/known/wrapperspb"
	"k8s.io/apimachinery/pkg/api/resource"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/internal/cri/podresources"
)

func announcementOf(config *podresources.PodResourceConfig) *Announcement {
	a := &Announcement{Resources: resourcesOf(config.GetKubernetesResources())}
	for _, c := range config.GetContainers() {
		a.Containers = append(a.Containers, containerOf(c))
	}
	return a
}

func containerOf(config *podresources.ContainerResourceConfig) Container {
	c := Container{
		Name:      config.GetName(),
		Type:      ContainerType(config.GetType()) + Init, // on the wire they begin with 0
		Resources: resourcesOf(config.GetKubernetesResources()),
	}
	for _, m := range config.GetMounts() {
		c.Mounts = append(c.Mounts, Mount{
			ContainerPath:     m.GetContainerPath(),
			HostPath:          m.GetHostPath(),
			ReadOnly:          m.GetReadonly(),
			RecursiveReadOnly: m.GetRecursiveReadOnly(),
			Propagation:       Propagation(m.GetPropagation()),
			Image:             m.GetImage().GetImage(),
			ImageSubPath:      m.GetImageSubPath(),
		})
	}
	for _, d := range config.GetDevices() {
		c.Devices = append(c.Devices, Device{d.GetContainerPath(), d.GetHostPath(), d.GetPermissions()})
	}
	for _, d := range config.GetCDIDevices() {
		c.CDIDevices = append(c.CDIDevices, d.GetName())
	}
	return c
}

func resourcesOf(r *podresources.KubernetesResources) Resources {
	return Resources{quantitiesOf(r.GetRequests()), quantitiesOf(r.GetLimits())}
}

// quantitiesOf is of those that were found valid when they were decoded.
func quantitiesOf(texts map[string]*wrapperspb.StringValue) map[string]resource.Quantity {
	if len(texts) == 0 {
		return nil
	}
	quantities := make(map[string]resource.Quantity, len(texts))
	for name, text := range texts {
		if q, err := podresources.ParseQuantity(text.GetValue()); err == nil {
			quantities[name] = q
		}
	}
	return quantities
}

func (a Announcement) message() (*podresources.PodResourceConfig, error) {
	config := &podresources.PodResourceConfig{KubernetesResources: a.Resources.messageOrNone()}
	for _, c := range a.Containers {
		if c.Type < Init {
			return nil, fmt.Errorf("container %q has no type, want Init or Main", c.Name)
		}
		config.Containers = append(config.Containers, c.message())
	}
	return config, nil
}

func (c Container) message() *podresources.ContainerResourceConfig {
	config := &podresources.ContainerResourceConfig{
		Name:                c.Name,
		Type:                podresources.ContainerType(c.Type - Init).Enum(),
		KubernetesResources: c.Resources.messageOrNone(),
	}
	for _, m := range c.Mounts {
		mount := &cri.Mount{
			ContainerPath:     m.ContainerPath,
			HostPath:          m.HostPath,
			Readonly:          m.ReadOnly,
			RecursiveReadOnly: m.RecursiveReadOnly,
			Propagation:       cri.MountPropagation(m.Propagation),
			ImageSubPath:      m.ImageSubPath,
		}
		if m.Image != "" {
			mount.Image = &cri.ImageSpec{Image: m.Image}
		}
		config.Mounts = append(config.Mounts, mount)
	}
	for _, d := range c.Devices {
		config.Devices = append(config.Devices, &cri.Device{
			ContainerPath: d.ContainerPath, HostPath: d.HostPath, Permissions: d.Permissions,
		})
	}
	for _, name := range c.CDIDevices {
		config.CDIDevices = append(config.CDIDevices, &cri.CDIDevice{Name: name})
	}
	return config
}

func (r Resources) message() *podresources.KubernetesResources {
	return &podresources.KubernetesResources{Requests: texts(r.Requests), Limits: texts(r.Limits)}
}

// messageOrNone is for where resources that name nothing are left out.
func (r Resources) messageOrNone() *podresources.KubernetesResources {
	if len(r.Requests)+len(r.Limits) == 0 {
		return nil
	}
	return r.message()
}

func texts(quantities map[string]resource.Quantity) map[string]*wrapperspb.StringValue {
	if len(quantities) == 0 {
		return nil
	}
	texts := make(map[string]*wrapperspb.StringValue, len(quantities))
	for name, q := range quantities {
		texts[name] = wrapperspb.String(q.String())
	}
	return texts
}
