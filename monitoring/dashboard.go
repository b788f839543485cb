// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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

// The form of a dashboard is Grafana's, https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/.
type (
	dashboard struct {
		UID           string     `json:"uid"`
		Title         string     `json:"title"`
		Tags          []string   `json:"tags"`
		SchemaVersion int        `json:"schemaVersion"`
		Refresh       string     `json:"refresh"`
		Time          timeRange  `json:"time"`
		Templating    templating `json:"templating"`
		Panels        []panel    `json:"panels"`
	}
	timeRange struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	templating struct {
		List []variable `json:"list"`
	}
	variable struct {
		Name       string  `json:"name"`
		Label      string  `json:"label"`
		Type       string  `json:"type"`
		Query      string  `json:"query"`
		Datasource *source `json:"datasource,omitempty"`
		IncludeAll bool    `json:"includeAll,omitempty"`
		Multi      bool    `json:"multi,omitempty"`
		Refresh    int     `json:"refresh,omitempty"` // 2: when the time range changes
	}
	source struct {
		Type string `json:"type"`
		UID  string `json:"uid"`
	}
	panel struct {
		ID          int          `json:"id"`
		Type        string       `json:"type"`
		Title       string       `json:"title"`
		Description string       `json:"description,omitempty"`
		GridPos     position     `json:"gridPos"`
		Datasource  *source      `json:"datasource,omitempty"`
		Targets     []target     `json:"targets,omitempty"`
		FieldConfig *fieldConfig `json:"fieldConfig,omitempty"`
	}
	position struct {
		H int `json:"h"`
		W int `json:"w"`
		X int `json:"x"`
		Y int `json:"y"`
	}
	target struct {
		RefID        string  `json:"refId"`
		Expr         string  `json:"expr"`
		LegendFormat string  `json:"legendFormat"`
		Datasource   *source `json:"datasource"`
	}
	fieldConfig struct {
		Defaults  defaults `json:"defaults"`
		Overrides []any    `json:"overrides"`
	}
	defaults struct {
		Unit string `json:"unit"`
	}
)

var prometheus = &source{Type: "prometheus", UID: "${datasource}"}

// The grid of Grafana has 24 columns.
const (
	columns = 24
	width   = 8
	height  = 7
)

// Dashboard returns a dashboard for Grafana with a panel for each metric.
func Dashboard(metrics []Metric) ([]byte, error) {
	d := dashboard{
		UID:           "hookline",
		Title:         "hookline",
		Tags:          []string{"containerd", "nri", "hookline"},
		SchemaVersion: 39,
		Refresh:       "30s",
		Time:          timeRange{"now-3h", "now"},
		Templating: templating{[]variable{
			{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus"},
			{Name: "instance", Label: "Node", Type: "query", Query: "label_values(containerd_nri_registering_connections, instance)", Datasource: prometheus, IncludeAll: true, Multi: true, Refresh: 2},
		}},
	}
	rest, y := metrics, 0
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
		d.add(panel{Type: "row", Title: area.title, GridPos: position{1, columns, 0, y}})
		y++
		for i, m := range of {
			d.add(panelOf(m, position{height, width, i * width % columns, y + i*width/columns*height}))
		}
		y += (len(of)*width + columns - 1) / columns * height
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("no row of the dashboard has metric %s", rest[0].Name)
	}
	out, err := json.MarshalIndent(d, "", "  ")
	return append(out, '\n'), err
}

func (d *dashboard) add(p panel) {
	p.ID = len(d.Panels) + 1
	d.Panels = append(d.Panels, p)
}

// panelOf shows a gauge as it is, a counter as a rate, and of a histogram the 99th percentile.
func panelOf(m Metric, at position) panel {
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
	return panel{
		Type: "timeseries", Title: title, Description: m.Help, GridPos: at, Datasource: prometheus,
		Targets:     []target{{RefID: "A", Expr: expr, LegendFormat: legend, Datasource: prometheus}},
		FieldConfig: &fieldConfig{Defaults: defaults{unit}, Overrides: []any{}},
	}
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
