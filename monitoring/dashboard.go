// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// areas are the rows of the dashboard: their titles, and the beginnings of the names of their metrics.
// A metric is in the first row that fits.
var areas = []struct {
	title    string
	prefixes []string
}{
	{"Pods in creation", []string{"containerd_cri_sandbox"}},
	{"Network", []string{"containerd_cri_network"}},
	{"Required plugins", []string{"containerd_nri_required", "containerd_nri_network_gate"}},
	{"Missed events", []string{"containerd_nri_missed", "containerd_nri_plugin_missed"}},
	{"Names, rights and registrations", []string{"containerd_nri_plugin_name", "containerd_nri_plugin_missing_rights", "containerd_nri_registering", "containerd_nri_connections"}},
	{"Plugins", []string{"containerd_nri"}},
	{"Records and resources", []string{"containerd_"}},
}

var prometheusSource = common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}

// The grid of Grafana has 24 columns.
const (
	width  = 8
	height = 7
)

// Dashboard returns a dashboard for Grafana with a panel for each metric.
func Dashboard(metrics []Metric) ([]byte, error) {
	// The classic form: older releases of Grafana import it, too.
	//nolint:staticcheck // its successor is for new releases alone
	d := dashboard.NewDashboardBuilder("hookline").Uid("hookline").Tags([]string{"containerd", "nri", "hookline"}).
		Refresh("30s").Time("now-3h", "now").
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus")).
		WithVariable(dashboard.NewQueryVariableBuilder("instance").Label("Node").
			Query(dashboard.StringOrMap{String: cog.ToPtr("label_values(containerd_nri_registering_connections, instance)")}).
			Datasource(prometheusSource).IncludeAll(true).Multi(true).Refresh(dashboard.VariableRefreshOnTimeRangeChanged))
	rest := metrics
	for _, area := range areas {
		var of, others []Metric
		for _, m := range rest {
			if slices.ContainsFunc(area.prefixes, func(p string) bool { return strings.HasPrefix(m.Name, p) }) {
				of = append(of, m)
			} else {
				others = append(others, m)
			}
		}
		rest = others
		if len(of) == 0 {
			continue
		}
		d.WithRow(dashboard.NewRowBuilder(area.title))
		for _, m := range of {
			d.WithPanel(panelOf(m))
		}
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("no row of the dashboard has metric %s", rest[0].Name)
	}
	built, err := d.Build()
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	for i := range built.Panels { // by which Grafana links to them
		id := uint32(i + 1)
		if p := built.Panels[i].Panel; p != nil {
			p.Id = &id
		} else {
			built.Panels[i].RowPanel.Id = id
		}
	}
	out, err := json.MarshalIndent(built, "", "  ")
	return append(out, '\n'), err
}

// panelOf shows a gauge as it is, a counter as a rate, and of a histogram the 99th percentile.
func panelOf(m Metric) cog.Builder[dashboard.Panel] {
	title := strings.TrimPrefix(m.Name, "containerd_")
	selected := m.Name + `{instance=~"$instance"}`
	legend := "{{instance}}"
	for _, l := range m.Labels {
		legend += " {{" + l + "}}"
	}
	labels := strings.Join(append([]string{"instance"}, m.Labels...), ", ")
	var expr, unit string
	switch m.Kind {
	case "counter":
		expr, unit = fmt.Sprintf("sum by (%s) (rate(%s[$__rate_interval]))", labels, selected), "ops"
	case "histogram":
		title += ", 99th percentile"
		expr, unit = fmt.Sprintf(`histogram_quantile(0.99, sum by (le, %s) (rate(%s_bucket{instance=~"$instance"}[$__rate_interval])))`, labels, m.Name), "s"
	default:
		expr, unit = selected, unitOf(m.Name)
	}
	return timeseries.NewPanelBuilder().Title(title).Description(m.Help).Span(width).Height(height).Unit(unit).
		Datasource(prometheusSource).
		WithTarget(prometheus.NewDataqueryBuilder().RefId("A").Expr(expr).LegendFormat(legend).Datasource(prometheusSource))
}

func unitOf(gauge string) string {
	switch {
	case strings.HasSuffix(gauge, "_seconds"):
		return "s"
	case strings.HasSuffix(gauge, "_bytes"):
		return "bytes"
	}
	return "short"
}
