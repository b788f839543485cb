// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRequiredMetrics(t *testing.T) {
	m := &nriMetrics{}
	m.RecordRequiredWait("must", "RunPodSandbox", time.Second)
	m.RecordRequiredRejection("must", "RunPodSandbox", "disconnected")
	require.Contains(t, metricsOf(t, "must"), "containerd_nri_required_plugin_wait_seconds")
	require.Contains(t, metricsOf(t, "must"), "containerd_nri_required_plugin_rejections_total")
}
