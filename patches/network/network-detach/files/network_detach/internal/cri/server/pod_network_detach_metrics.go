// SPDX-License-Identifier: Apache-2.0

package server

import "github.com/docker/go-metrics"

var (
	networkCachedDels        metrics.Counter
	networkRemovedWithoutDel metrics.Counter
)

func init() {
	ns := metrics.NewNamespace("containerd", "cri_network", nil)

	networkCachedDels = ns.NewCounter("cached_dels", "Attachments whose CNI DEL ran with libcni's cached configuration, because it is no longer loaded")
	networkRemovedWithoutDel = ns.NewCounter("removed_without_del", "Pods removed without a successful CNI DEL, or with the DEL of another network. Their addresses may have leaked; the log names them")

	metrics.Register(ns)
}
