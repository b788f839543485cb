// SPDX-License-Identifier: Apache-2.0

package server

import "github.com/docker/go-metrics"

var (
	networkCachedDels        metrics.Counter
	networkRemovedWithoutDel metrics.Counter
)

func init() {
	ns := metrics.NewNamespace("containerd", "cri_network", nil)

	networkCachedDels = ns.NewCounter("cached_dels", "Attachments whose CNI DEL ran with libcni's cached configuration of their ADD, as it is not loaded any more")
	networkRemovedWithoutDel = ns.NewCounter("removed_without_del", "Times that a pod was taken off its network without a successful CNI DEL, or with that of another network, so that something may have leaked; the log says what")

	metrics.Register(ns)
}
