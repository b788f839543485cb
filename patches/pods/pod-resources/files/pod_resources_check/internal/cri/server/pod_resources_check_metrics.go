// SPDX-License-Identifier: Apache-2.0

package server

import "github.com/docker/go-metrics"

var podResourcesDifferences metrics.LabeledCounter

func init() {
	ns := metrics.NewNamespace("containerd", "cri_pod_resources", nil)

	podResourcesDifferences = ns.NewLabeledCounter("differences", "Differences between containers and their announced resources, by field: mounts, devices, cdi_devices, requests or limits", "field")

	metrics.Register(ns)
}
