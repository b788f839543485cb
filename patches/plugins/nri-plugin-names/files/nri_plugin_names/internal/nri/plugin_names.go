// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"errors"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/docker/go-metrics"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// A PodNamespacer is a Domain that knows the namespaces of its pods.
type PodNamespacer interface {
	// PodNamespace returns the namespace of a pod. uid is the uid in the pod's metadata, and
	// container is the id of one of its containers, or empty. It fails with
	// errdefs.ErrNotFound if there is no such pod, or the pod has no such container.
	PodNamespace(uid, container string) (string, error)
}

// podNamespace returns the namespace from the domain that has the pod.
func (t *domainTable) podNamespace(uid, container string) (string, error) {
	t.Lock()
	defer t.Unlock()
	for _, d := range t.domains {
		pods, is := d.(PodNamespacer)
		if !is {
			continue
		}
		namespace, err := pods.PodNamespace(uid, container)
		if errors.Is(err, errdefs.ErrNotFound) {
			continue
		}
		return namespace, err
	}
	return "", fmt.Errorf("pod %s with container %q is not known: %w", uid, container, errdefs.ErrNotFound)
}

var (
	nriNameRejections      metrics.LabeledCounter
	nriRegistering         metrics.Gauge
	nriConnectionsRejected metrics.Counter
)

func init() {
	ns := metrics.NewNamespace("containerd", "nri", nil)
	nriRegistering = ns.NewGauge("registering_connections", "Connections that are not registered and synchronized yet. At most 64 are served at a time; the others wait", "")
	nriConnectionsRejected = ns.NewCounter("connections_rejected", "Connections to the NRI socket that were closed because their pod, user or process has 16 connections that are not registered yet")
	nriNameRejections = ns.NewLabeledCounter("plugin_name_rejections", "Registrations that were rejected because the name is reserved, by reason: user or namespace (it is not an allowed one), unknown (it cannot be determined), or name (the plugin has the index and name of another one as its name)", "plugin", "reason")
	metrics.Register(ns)
}

var (
	_ nri.NameMetrics         = (*nriMetrics)(nil)
	_ nri.RegistrationMetrics = (*nriMetrics)(nil)
)

// RecordRegistering implements nri.RegistrationMetrics.
func (m *nriMetrics) RecordRegistering(connections int) { nriRegistering.Set(float64(connections)) }

// RecordConnectionRejected implements nri.RegistrationMetrics.
func (m *nriMetrics) RecordConnectionRejected() { nriConnectionsRejected.Inc() }

// RecordNameRejection implements nri.NameMetrics.
func (m *nriMetrics) RecordNameRejection(plugin, reason string) {
	nriNameRejections.WithValues(plugin, reason).Inc()
}
