// SPDX-License-Identifier: Apache-2.0

package server

import "github.com/docker/go-metrics"

var podResourcesIgnored metrics.LabeledCounter

func init() {
	ns := metrics.NewNamespace("containerd", "cri_pod_resources", nil)

	podResourcesIgnored = ns.NewLabeledCounter("ignored", "Requests whose resources of containers could not be read, by source: field or annotation of a new pod, container, container_update, pod_update, or record (after a restart)", "source")

	metrics.Register(ns)
}
