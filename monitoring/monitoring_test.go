// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/stretchr/testify/require"
)

func TestEachAlertIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range Alerts {
		require.False(t, seen[a.Name], "%s comes twice", a.Name)
		seen[a.Name] = true
		for _, text := range []string{a.Expr, string(a.Severity), a.Summary, a.Means, a.Look, a.Do, a.Rings} {
			require.NotEmpty(t, text, a.Name)
		}
	}
}

func TestMetricsOfAlertsAreDefined(t *testing.T) {
	metrics := []Metric{{Name: "containerd_nri_knocks_total", Kind: "counter", Labels: []string{"door"}}}
	for _, c := range []struct{ name, expr, problem string }{
		{"defined", `sum by (instance, door) (rate(containerd_nri_knocks_total{door=~"a|b"}[5m])) > 0`, ""},
		{"a metric that no patch defines", `containerd_nri_rings_total > 0`, "alert A: no patch defines metric containerd_nri_rings_total"},
		{"a label that it does not have", `containerd_nri_knocks_total{window="a"} > 0`, "alert A: metric containerd_nri_knocks_total has no label window"},
		{"a sum by such a label", `sum by (window) (containerd_nri_knocks_total) > 0`, "alert A: none of its metrics has label window"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := errors.Join(Check([]Alert{{Name: "A", Expr: c.expr}}, metrics)...)
			if c.problem == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.problem)
		})
	}
}

func TestDashboardHasEachMetric(t *testing.T) {
	text, err := Dashboard([]Metric{
		{Name: "containerd_nri_knocks_total", Kind: "counter", Labels: []string{"door"}, Help: "Knocks"},
		{Name: "containerd_nri_wait_seconds", Kind: "histogram"},
		{Name: "containerd_nri_missed_events_bytes", Kind: "gauge"},
	})
	require.NoError(t, err)
	runtime := cog.NewRuntime()
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
	runtime.RegisterDataqueryVariant(prometheus.VariantConfig())
	var d dashboard.Dashboard                                                      //nolint:staticcheck // see Dashboard
	require.Empty(t, d.UnmarshalJSONStrict(text), "it is not of Grafana's schema") // a list of errors, never nil
	require.NoError(t, json.Unmarshal(text, &d))                                   // the strict one leaves panels out
	require.NoError(t, d.Validate())
	exprs, ids := map[string]string{}, map[uint32]bool{}
	for _, p := range d.Panels {
		if p.RowPanel != nil {
			ids[p.RowPanel.Id] = true
			continue
		}
		ids[*p.Panel.Id] = true
		for _, target := range p.Panel.Targets {
			exprs[*p.Panel.Title] = target.(*prometheus.Dataquery).Expr + " " + *p.Panel.FieldConfig.Defaults.Unit
		}
	}
	require.Len(t, ids, len(d.Panels), "panels share a number")
	require.Equal(t, map[string]string{
		"nri_knocks_total":                  `sum by (instance, door) (rate(containerd_nri_knocks_total{instance=~"$instance"}[$__rate_interval])) ops`,
		"nri_wait_seconds, 99th percentile": `histogram_quantile(0.99, sum by (le, instance) (rate(containerd_nri_wait_seconds_bucket{instance=~"$instance"}[$__rate_interval]))) s`,
		"nri_missed_events_bytes":           `containerd_nri_missed_events_bytes{instance=~"$instance"} bytes`,
	}, exprs)

	_, err = Dashboard([]Metric{{Name: "kubelet_knocks_total"}})
	require.EqualError(t, err, "no row of the dashboard has metric kubelet_knocks_total")
}
