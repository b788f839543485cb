// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"slices"

	"github.com/containerd/log"
)

// requiredByAnnounced returns the plugins that the CDI devices require which are announced with the pod. A device
// without a specification, or with an unreadable annotation, requires none (R4): its container fails.
func (p *criPodSandbox) requiredByAnnounced() (all []string, err error) {
	var devices []string
	for _, ctr := range p.announced().Config().GetContainers() {
		for _, d := range ctr.GetCDIDevices() {
			devices = append(devices, d.GetName())
		}
	}
	slices.Sort(devices)
	devices = slices.Compact(devices)
	specifications, err := specificationsOf(devices)
	if err != nil {
		return nil, err
	}
	for _, name := range devices {
		device := specifications.cache.GetDevice(name)
		if device == nil {
			continue
		}
		plugins, err := requiredBy(device)
		if err != nil {
			log.L.WithError(err).Warnf("pod %s is announced with an unreadable device", p.GetID())
			continue
		}
		all = append(all, plugins...)
	}
	return all, nil
}
