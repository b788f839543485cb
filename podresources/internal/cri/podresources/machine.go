// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"fmt"

	"google.golang.org/protobuf/types/known/wrapperspb"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A Machine has the CPUs and the bytes of memory of a node. Zero is unknown.
type Machine struct {
	CPUs, Memory int64
}

// Fits returns an error if the announcement comes from a source that is not trusted, and requests
// more CPU or memory than the machine has. No scheduler can have accounted for such a pod here, and
// a plugin that reserves its requests would take the whole machine.
func (a *Announcement) Fits(m Machine) error {
	if a == nil || a.source != FromPod {
		return nil
	}
	for _, of := range []struct {
		name string
		most *resource.Quantity
	}{
		{"cpu", resource.NewQuantity(m.CPUs, resource.DecimalSI)},
		{"memory", resource.NewQuantity(m.Memory, resource.BinarySI)},
	} {
		if of.most.IsZero() {
			continue
		}
		for _, requested := range a.config.requested(of.name) {
			if requested.Cmp(*of.most) > 0 {
				return fmt.Errorf("annotation %s: it requests %s of %q, and the machine has %s", Annotation, &requested, of.name, of.most)
			}
		}
	}
	return nil
}

// requested returns the requests of a valid announcement for a resource: of the pod as a whole, of
// its main containers together, and of each init container.
func (c *PodResourceConfig) requested(name string) []resource.Quantity {
	var together resource.Quantity
	all := []resource.Quantity{quantityOf(c.GetKubernetesResources().GetRequests()[name])}
	for _, container := range c.GetContainers() {
		q := quantityOf(container.GetKubernetesResources().GetRequests()[name])
		if container.GetType() == ContainerType_INIT_CONTAINER {
			all = append(all, q)
		} else {
			together.Add(q)
		}
	}
	return append(all, together)
}

func quantityOf(text *wrapperspb.StringValue) resource.Quantity {
	q, err := parseQuantity(text.GetValue())
	if err != nil {
		return resource.Quantity{} // there is none
	}
	return q
}
