// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/wrapperspb"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Difference is one between a container and what was announced of it.
type Difference struct {
	// Field says what differs: "mounts[/data].readonly", "requests[cpu]".
	Field string
	// Announced and Got are its values, or "none".
	Announced, Got string
}

// String is a clause of a sentence.
func (d Difference) String() string {
	return fmt.Sprintf("%s: announced %s, got %s", d.Field, d.Announced, d.Got)
}

const none = "none"

// Container returns the container of that name, and nil if there is none.
func (c *PodResourceConfig) Container(name string) *ContainerResourceConfig {
	for _, container := range c.GetContainers() {
		if container.GetName() == name {
			return container
		}
	}
	return nil
}

// Check compares a container with what was announced of it, by name, in no
// order: mounts, devices, CDI devices, and the Kubernetes resources if the
// request has some that can be read. A container that was not announced, as no
// ephemeral one is, has no differences. Nor are those any that are the kubelet's
// own doing, for which see allowed.
//
// Of an announcement that is partial, one by who does not know all of a pod, such
// as a webhook that cannot know paths on the host, those of mounts, devices and
// CDI devices are not compared that no container of it has.
func Check(announced *PodResourceConfig, partial bool, config *runtime.ContainerConfig) []Difference {
	name := config.GetMetadata().GetName()
	want := announced.Container(name)
	if want == nil {
		return nil
	}
	var differences []Difference
	said := func(has func(*ContainerResourceConfig) bool) bool {
		return !partial || slices.ContainsFunc(announced.GetContainers(), has)
	}
	if said(func(c *ContainerResourceConfig) bool { return len(c.GetMounts()) > 0 }) {
		differences = append(differences, compare("mounts", mountsOf(name, want.GetMounts()), mountsOf(name, config.GetMounts()), allowed)...)
	}
	if said(func(c *ContainerResourceConfig) bool { return len(c.GetDevices()) > 0 }) {
		differences = append(differences, compare("devices", devicesOf(want.GetDevices()), devicesOf(config.GetDevices()), nil)...)
	}
	if said(func(c *ContainerResourceConfig) bool { return len(c.GetCDIDevices()) > 0 }) {
		differences = append(differences, compare("cdi_devices", cdiOf(want.GetCDIDevices()), cdiOf(config.GetCDIDevices()), nil)...)
	}
	if got, err := FromContainer(config); err == nil && got != nil {
		asked := want.GetKubernetesResources()
		differences = append(differences, compareQuantities("requests", asked.GetRequests(), got.GetRequests())...)
		differences = append(differences, compareQuantities("limits", asked.GetLimits(), got.GetLimits())...)
	}
	return differences
}

// compareQuantities goes by value: 1 is 1000m.
func compareQuantities(field string, announced, got map[string]*wrapperspb.StringValue) []Difference {
	var differences []Difference
	names := slices.Concat(slices.Collect(maps.Keys(announced)), slices.Collect(maps.Keys(got)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		a, g := cmp.Or(announced[name].GetValue(), none), cmp.Or(got[name].GetValue(), none)
		if a == g {
			continue
		}
		want, errWant := ParseQuantity(a)
		have, errHave := ParseQuantity(g)
		if errWant == nil && errHave == nil && want.Cmp(have) == 0 {
			continue
		}
		differences = append(differences, Difference{fmt.Sprintf("%s[%s]", field, name), a, g})
	}
	return differences
}
