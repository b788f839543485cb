// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/wrapperspb"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Difference is a difference between a container and its announcement.
type Difference struct {
	// Field names the field that differs: "mounts[/data].readonly", "requests[cpu]".
	Field string
	// Announced and Got are its values, or "none".
	Announced, Got string
}

// String returns the difference as a clause.
func (d Difference) String() string {
	return fmt.Sprintf("%s: announced %s, got %s", d.Field, clip(d.Announced), clip(d.Got))
}

// at names a field of the item with that key.
func at(field, key string) string {
	if quoted := strconv.Quote(key); quoted != `"`+key+`"` {
		key = quoted
	}
	return fmt.Sprintf("%s[%s]", field, clip(key))
}

const none = "none"

// Check compares a container of a pod with its announcement, by name, in any order: mounts,
// devices, CDI devices, and the Kubernetes resources if the request has some that can be read. A
// container that was not announced, such as an ephemeral one, has no differences. Mounts that the
// kubelet adds by itself are not differences either, see kubelet.
//
// If the announcement is partial, kinds that none of its containers has are not compared.
func Check(a *Announcement, pod *runtime.PodSandboxMetadata, config *runtime.ContainerConfig) []Difference {
	want := a.Container(config.GetMetadata().GetName())
	if want == nil {
		return nil
	}
	k := kubelet{pod: pod.GetUid(), container: want.GetName()}
	var differences []Difference
	if a.says(func(c *ContainerResourceConfig) int { return len(c.GetMounts()) }) {
		differences = append(differences, compare("mounts", k.mounts(want.GetMounts()), k.mounts(config.GetMounts()))...)
	}
	if a.says(func(c *ContainerResourceConfig) int { return len(c.GetDevices()) }) {
		differences = append(differences, compare("devices", devices(want.GetDevices()), devices(config.GetDevices()))...)
	}
	if a.says(func(c *ContainerResourceConfig) int { return len(c.GetCDIDevices()) }) {
		differences = append(differences, compare("cdi_devices", cdiDevices(want.GetCDIDevices()), cdiDevices(config.GetCDIDevices()))...)
	}
	if got, err := FromContainer(config); err == nil && got != nil && a.says(func(c *ContainerResourceConfig) int { return c.GetKubernetesResources().items() }) {
		asked := want.GetKubernetesResources()
		differences = append(differences, compareQuantities("requests", asked.GetRequests(), got.GetRequests())...)
		differences = append(differences, compareQuantities("limits", asked.GetLimits(), got.GetLimits())...)
	}
	return differences
}

// says reports whether a kind of items is announced at all: always, unless the
// announcement is partial and no container has one.
func (a *Announcement) says(count func(*ContainerResourceConfig) int) bool {
	return !a.partial() || slices.ContainsFunc(a.config.GetContainers(), func(c *ContainerResourceConfig) bool { return count(c) > 0 })
}

// maxClauses is how many differences a sentence names.
const maxClauses = 10

// Sentence lists the differences, short enough for a log.
func Sentence(differences []Difference) string {
	var clauses []string
	for _, d := range differences[:min(len(differences), maxClauses)] {
		clauses = append(clauses, d.String())
	}
	if more := len(differences) - maxClauses; more > 0 {
		clauses = append(clauses, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(clauses, "; ")
}

// compareQuantities compares values: 1 is 1000m.
func compareQuantities(field string, announced, got map[string]*wrapperspb.StringValue) []Difference {
	var differences []Difference
	names := slices.Concat(slices.Collect(maps.Keys(announced)), slices.Collect(maps.Keys(got)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		a, g := announced[name].GetValue(), got[name].GetValue()
		want, errWant := ParseQuantity(cmp.Or(a, "0")) // to Kubernetes a missing quantity is zero
		have, errHave := ParseQuantity(cmp.Or(g, "0"))
		if errWant == nil && errHave == nil && want.Cmp(have) == 0 {
			continue
		}
		differences = append(differences, Difference{at(field, name), cmp.Or(a, none), cmp.Or(g, none)})
	}
	return differences
}
