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
	m.RecordRequiredRefusal("must", "RunPodSandbox", "away")
	require.Contains(t, metricsOf(t, "must"), "containerd_nri_required_plugin_wait_seconds")
	require.Contains(t, metricsOf(t, "must"), "containerd_nri_required_plugin_refusals_total")
}
