// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// module returns a module whose file a.go the patches change from was to is.
func module(was, is string) []Module {
	m := Module{Name: "hall", Base: fstest.MapFS{}, Files: map[string][]byte{"a.go": []byte(is)}}
	if was != "" {
		m.Base = fstest.MapFS{"a.go": {Data: []byte(was)}}
	}
	return []Module{m}
}

const measured = `package hall

import (
	"github.com/docker/go-metrics"
	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var own = metrics.NewNamespace("hall", "door", nil)

var knocks = own.NewCounter("knocks", "knocks")

type collector struct{ seats, doors *prom.Desc }

func (c *collector) Collect(values chan<- prom.Metric) {
	values <- prom.MustNewConstMetric(c.seats, prom.GaugeValue, 1, "x")
	values <- prom.MustNewConstMetric(c.doors, prom.CounterValue, 1)
}

func init() {
	ns := metrics.NewNamespace("hall", "stage", nil)
	ns.NewLabeledCounter("songs", "songs, " + "by key", "key", "singer")
	ns.NewTimer("concert", "a concert")
	ns.NewTimerWithBuckets("encore", "an encore", []float64{1})
	ns.NewLabeledTimer("song", "a song", "key")
	ns.NewLabeledTimerWithBuckets("act", "an act", []float64{1}, "key")
	ns.NewGauge("lights", "lights", "")
	ns.NewGauge("paint", "paint", metrics.Bytes)
	ns.NewLabeledGauge("chairs", "chairs", "")
	c := &collector{seats: ns.NewDesc("seats", "seats", "", "row")}
	c.doors = prom.NewDesc("hall_doors_total", "doors", nil, nil)
}

func init() {
	ns := ofTheHall(metrics.NewNamespace("hall", "wrapped", nil))
	ns.NewCounter("gifts", "gifts")
}

func init() {
	ns := metrics.NewNamespace("hall", "", nil)
	prom.NewCounterVec(prom.CounterOpts{Namespace: "hall", Name: "guests_total", Help: "guests"}, []string{"from"})
	promauto.NewCounter(prom.CounterOpts{Name: "bells_total", Help: "bells"})
	promauto.NewHistogram(prom.HistogramOpts{Subsystem: "bar", Name: "drink_seconds", Help: "a drink"})
	ns.Add(prom.NewGaugeFunc(prom.GaugeOpts{Name: "heat_celsius", Help: "heat"}, func() float64 { return 20 }))
}
`

// Names, types and labels are those that Prometheus shows.
func TestMetrics(t *testing.T) {
	c, err := metricContent(module("", measured))
	require.NoError(t, err)
	require.Empty(t, c.problems)
	require.Equal(t, "| metric | type | labels | meaning |\n|---|---|---|---|\n"+
		"| `hall_door_knocks_total` | counter | | knocks |\n"+
		"| `hall_stage_songs_total` | counter | key, singer | songs, by key |\n"+
		"| `hall_stage_concert_seconds` | histogram | | a concert |\n"+
		"| `hall_stage_encore_seconds` | histogram | | an encore |\n"+
		"| `hall_stage_song_seconds` | histogram | key | a song |\n"+
		"| `hall_stage_act_seconds` | histogram | key | an act |\n"+
		"| `hall_stage_lights` | gauge | | lights |\n"+
		"| `hall_stage_paint_bytes` | gauge | | paint |\n"+
		"| `hall_stage_chairs` | gauge | | chairs |\n"+
		"| `hall_stage_seats` | gauge | row | seats |\n"+
		"| `hall_doors_total` | counter | | doors |\n"+
		"| `hall_wrapped_gifts_total` | counter | | gifts |\n"+
		"| `hall_guests_total` | counter | from | guests |\n"+
		"| `bells_total` | counter | | bells |\n"+
		"| `bar_drink_seconds` | histogram | | a drink |\n"+
		"| `heat_celsius` | gauge | | heat |\n", c.text)
}

// A metric of upstream is not one that the patches add.
func TestMetricsOfUpstream(t *testing.T) {
	c, err := metricContent(module(measured, measured))
	require.NoError(t, err)
	require.Equal(t, "None.\n", c.text)
}

// A metric that cannot be read is not skipped.
func TestMetricsThatCannotBeRead(t *testing.T) {
	const imports = "package hall\n\nimport (\n\t\"github.com/docker/go-metrics\"\n\t\"github.com/prometheus/client_golang/prometheus\"\n)\n\n"
	for name, test := range map[string]struct{ code, want string }{
		"a name that is made up":     {`func f(n string) { ns := metrics.NewNamespace("a", "", nil); ns.NewCounter(n, "") }`, "n is not a constant string that can be read here"},
		"a namespace from elsewhere": {`func f(ns *metrics.Namespace) { ns.NewCounter("a", "") }`, "NewCounter of a namespace that is made elsewhere"},
		"labels from elsewhere":      {`func f(l []string) { prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "a"}, l) }`, "the labels of a metric are not a literal"},
		"options from elsewhere":     {`func f(o prometheus.GaugeOpts) { prometheus.NewGauge(o) }`, "the options of a gauge are not a literal"},
		"a type that is nowhere":     {`func f() { d := prometheus.NewDesc("a", "", nil, nil); _ = d }`, `no prometheus.MustNewConstMetric of this file has the type of "d"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := metricContent(module("", imports+test.code+"\n"))
			require.ErrorContains(t, err, "hall/a.go: ")
			require.ErrorContains(t, err, test.want)
		})
	}
}
