// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"context"

	"github.com/containerd/log"
	"github.com/docker/go-metrics"
)

var unreadable metrics.LabeledCounter

func init() {
	ns := metrics.NewNamespace("containerd", "metadata", nil)
	unreadable = ns.NewLabeledCounter("unreadable_records", "Records that a list left out because they could not be read, once for each list, by what they are of: sandbox or container; the log names them", "kind")
	metrics.Register(ns)
}

// leaveOut logs and counts a record that is left out of a list.
func leaveOut(ctx context.Context, kind, id string, err error) {
	unreadable.WithValues(kind).Inc()
	log.G(ctx).WithError(err).Errorf("the record of %s %q cannot be read, and is left out", kind, id)
}
