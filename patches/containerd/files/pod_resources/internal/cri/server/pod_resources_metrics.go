// SPDX-License-Identifier: Apache-2.0

package server

import "github.com/docker/go-metrics"

var (
	podResourcesIgnored     metrics.LabeledCounter
	podResourcesDifferences metrics.LabeledCounter
)

func init() {
	ns := metrics.NewNamespace("containerd", "cri_pod_resources", nil)

	podResourcesIgnored = ns.NewLabeledCounter("ignored", "Requests whose resources of containers could not be read, by source: field or annotation of a new pod, container, container_update, pod_update, or record (after a restart)", "source")
	podResourcesDifferences = ns.NewLabeledCounter("differences", "Differences between containers and what was announced of them, by what differs: mounts, devices, cdi_devices, requests or limits", "field")

	metrics.Register(ns)
}
