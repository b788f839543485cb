// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"fmt"

	"google.golang.org/protobuf/types/known/wrapperspb"
	"k8s.io/apimachinery/pkg/api/resource"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	kep "github.com/hookline-nri/hookline/podresources/internal/cri/podresources"
)

func podOf(config *kep.PodResourceConfig) *Pod {
	p := &Pod{Resources: requirementsOf(config.GetKubernetesResources())}
	for _, c := range config.GetContainers() {
		p.Containers = append(p.Containers, containerOf(c))
	}
	return p
}

func containerOf(config *kep.ContainerResourceConfig) Container {
	c := Container{
		Name:      config.GetName(),
		Type:      ContainerType(config.GetType()) + InitContainer, // on the wire they begin with 0
		Resources: requirementsOf(config.GetKubernetesResources()),
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

func requirementsOf(r *kep.KubernetesResources) Requirements {
	return Requirements{quantitiesOf(r.GetRequests()), quantitiesOf(r.GetLimits())}
}

// quantitiesOf converts quantities that were found valid when they were decoded.
func quantitiesOf(texts map[string]*wrapperspb.StringValue) map[string]resource.Quantity {
	if len(texts) == 0 {
		return nil
	}
	quantities := make(map[string]resource.Quantity, len(texts))
	for name, text := range texts {
		if q, err := kep.ParseQuantity(text.GetValue()); err == nil {
			quantities[name] = q
		}
	}
	return quantities
}

func (p Pod) message() (*kep.PodResourceConfig, error) {
	config := &kep.PodResourceConfig{KubernetesResources: p.Resources.messageOrNone()}
	for _, c := range p.Containers {
		if c.Type < InitContainer {
			return nil, fmt.Errorf("container %q has no type, want InitContainer or MainContainer", c.Name)
		}
		config.Containers = append(config.Containers, c.message())
	}
	return config, nil
}

func (c Container) message() *kep.ContainerResourceConfig {
	config := &kep.ContainerResourceConfig{
		Name:                c.Name,
		Type:                kep.ContainerType(c.Type - InitContainer).Enum(),
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

func (r Requirements) message() *kep.KubernetesResources {
	return &kep.KubernetesResources{Requests: texts(r.Requests), Limits: texts(r.Limits)}
}

// messageOrNone returns nil for resources that name nothing, where these are left out.
func (r Requirements) messageOrNone() *kep.KubernetesResources {
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
