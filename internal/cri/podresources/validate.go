// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/wrapperspb"
)

// validate says what is wrong with the first container that something is wrong
// with.
func (c *PodResourceConfig) validate() error {
	if n := len(c.GetContainers()); n >= MaxContainers {
		return tooMany(n)
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
		if _, known := ContainerType_name[int32(container.GetType())]; !known {
			return fmt.Errorf("container %q: unknown type %d", name, container.GetType())
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

func (r *KubernetesResources) validate() error {
	if err := validQuantities(r.GetRequests()); err != nil {
		return fmt.Errorf("requests: %w", err)
	}
	if err := validQuantities(r.GetLimits()); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	return nil
}

// validQuantities goes by name, so that the same input has the same error.
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

func tooLarge(size int) error {
	return fmt.Errorf("%d bytes, want less than %d", size, MaxSize)
}
