// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/wrapperspb"
)

// validate returns the first error of the first invalid container, or of the pod.
func (c *PodResourceConfig) validate() error {
	if n := len(c.GetContainers()); n >= MaxContainers {
		return tooMany(n)
	}
	if n := c.items(); n >= MaxItems {
		return tooManyItems(n, MaxItems)
	}
	seen := map[string]int{}
	for i, container := range c.GetContainers() {
		name := container.GetName()
		if err := validName(name); err != nil {
			return fmt.Errorf("container %d of %d: %w", i+1, len(c.GetContainers()), err)
		}
		if before, twice := seen[name]; twice {
			return fmt.Errorf("two containers have the name %q, number %d and number %d", name, before, i+1)
		}
		seen[name] = i + 1
		if err := container.validItems(); err != nil {
			return fmt.Errorf("container %q: %w", name, err)
		}
		if err := container.GetKubernetesResources().validate(); err != nil {
			return fmt.Errorf("container %q: %w", name, err)
		}
	}
	if err := c.GetKubernetesResources().validate(); err != nil {
		return fmt.Errorf("the pod as a whole: %w", err)
	}
	return nil
}

// items returns the number of mounts, devices, CDI devices and quantities.
func (c *PodResourceConfig) items() int {
	n := c.GetKubernetesResources().items()
	for _, container := range c.GetContainers() {
		n += len(container.GetMounts()) + len(container.GetDevices()) + len(container.GetCDIDevices()) + container.GetKubernetesResources().items()
	}
	return n
}

func (r *KubernetesResources) items() int { return len(r.GetRequests()) + len(r.GetLimits()) }

// validItems returns an error for a mount or device without a path or name.
func (c *ContainerResourceConfig) validItems() error {
	for i, m := range c.GetMounts() {
		if m.GetContainerPath() == "" {
			return fmt.Errorf("mount %d of %d has no path in the container", i+1, len(c.GetMounts()))
		}
	}
	for i, d := range c.GetDevices() {
		if d.GetContainerPath() == "" {
			return fmt.Errorf("device %d of %d has no path in the container", i+1, len(c.GetDevices()))
		}
	}
	for i, d := range c.GetCDIDevices() {
		if d.GetName() == "" {
			return fmt.Errorf("CDI device %d of %d has no name", i+1, len(c.GetCDIDevices()))
		}
	}
	return nil
}

func (r *KubernetesResources) validate() error {
	if n := r.items(); n >= MaxItems {
		return tooManyItems(n, MaxItems)
	}
	if err := validQuantities(r.GetRequests()); err != nil {
		return fmt.Errorf("requests: %w", err)
	}
	if err := validQuantities(r.GetLimits()); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	return nil
}

// validQuantities checks quantities in the order of their names, so that the same input has the same
// error.
func validQuantities(quantities map[string]*wrapperspb.StringValue) error {
	for _, name := range slices.Sorted(maps.Keys(quantities)) {
		if err := validName(name); err != nil {
			return fmt.Errorf("a resource: %w", err)
		}
		if _, err := ParseQuantity(quantities[name].GetValue()); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	return nil
}

func validName(name string) error {
	switch {
	case name == "":
		return errors.New("has no name")
	case len(name) >= MaxName:
		return fmt.Errorf("has a name of %d bytes, want less than %d", len(name), MaxName)
	}
	return nil
}

func tooMany(containers int) error {
	return fmt.Errorf("%d containers, want less than %d", containers, MaxContainers)
}

func tooManyItems(items, most int) error {
	return fmt.Errorf("%d mounts, devices and quantities, want less than %d", items, most)
}

// errTooLarge is the error of resources that reach MaxSize, or MaxAnnotation.
var errTooLarge = errors.New("too large")

func tooLarge(size, most int) error {
	return fmt.Errorf("%w: %d bytes, want less than %d", errTooLarge, size, most)
}
