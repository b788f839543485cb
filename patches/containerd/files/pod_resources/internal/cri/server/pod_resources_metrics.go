// SPDX-License-Identifier: Apache-2.0

package server

import "github.com/docker/go-metrics"

var (
	podResourcesIgnored     metrics.LabeledCounter
	podResourcesDifferences metrics.LabeledCounter
)

func init() {
	ns := metrics.NewNamespace("containerd", "cri_pod_resources", nil)

	podResourcesIgnored = ns.NewLabeledCounter("ignored", "Number of requests whose resources of containers could not be read, by where they were", "source")
	podResourcesDifferences = ns.NewLabeledCounter("differences", "Number of differences between containers and what was announced of them, by what differs", "field")

	metrics.Register(ns)
}
