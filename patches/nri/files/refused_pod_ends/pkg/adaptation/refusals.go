// SPDX-License-Identifier: Apache-2.0

package adaptation

import "slices"

// refusals holds, by id of a pod that some plugin refused, the plugins that
// were asked for it, that one included. Pods that were not refused are not in
// it. The lock of the Adaptation guards it.
type refusals map[string][]*plugin

// note records who was asked for a pod when it was refused.
func (r *refusals) note(pod string, asked []*plugin) {
	if *r == nil {
		*r = refusals{}
	}
	(*r)[pod] = asked
}

// unasked returns true for a plugin that never heard of a refused pod.
func (r refusals) unasked(pod string, p *plugin) bool {
	asked, refused := r[pod]
	return refused && !slices.Contains(asked, p)
}

// forget drops a pod that is gone for good.
func (r refusals) forget(pod string) {
	delete(r, pod)
}
