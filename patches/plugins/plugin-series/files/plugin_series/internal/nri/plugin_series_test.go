// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/go-metrics"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

// aPage is a page of metrics with a clock of its own.
type aPage struct {
	t        *testing.T
	now      time.Time
	registry *prometheus.Registry
	counter  metrics.LabeledCounter
	timer    *pluginTimer
}

func newPage(t *testing.T) *aPage {
	p := &aPage{t: t, now: time.Unix(1000, 0), registry: prometheus.NewPedanticRegistry()}
	ns := pluginNamespace{metrics.NewNamespace("containerd", "nri", nil), &seriesOf{now: func() time.Time { return p.now }}}
	p.counter = ns.NewLabeledCounter("calls", "calls", "plugin", "operation")
	p.timer = ns.NewLabeledTimer("call", "calls", "plugin", "operation")
	p.registry.MustRegister(ns)
	return p
}

func (p *aPage) record(name string) {
	p.counter.WithValues(name, "StopPodSandbox").Inc()
	p.timer.WithValues(name, "StopPodSandbox").Update(time.Second)
}

// counts are what the counter has by name, which the timer has, too.
func (p *aPage) counts() map[string]float64 {
	p.t.Helper()
	families, err := p.registry.Gather()
	require.NoError(p.t, err)
	by := map[string]map[string]float64{}
	for _, f := range families {
		by[f.GetName()] = map[string]float64{}
		for _, m := range f.GetMetric() {
			value := m.GetCounter().GetValue()
			if f.GetType() == dto.MetricType_HISTOGRAM {
				value = float64(m.GetHistogram().GetSampleCount())
			}
			for _, l := range m.GetLabel() {
				if l.GetName() == "plugin" {
					by[f.GetName()][l.GetValue()] += value
				}
			}
		}
	}
	require.Equal(p.t, by["containerd_nri_calls_total"], by["containerd_nri_call_seconds"])
	return by["containerd_nri_calls_total"]
}

// The number of series is bounded for any number of names, and every record is counted.
func TestSeriesAreBounded(t *testing.T) {
	p := newPage(t)
	for i := range 2000 {
		p.record(fmt.Sprintf("10-p%d", i))
	}
	counts := p.counts()
	require.Len(t, counts, seriesNames+1)
	require.EqualValues(t, 2000-seriesNames, counts[otherNames])
	require.EqualValues(t, 1, counts["10-p0"])
}

// The series of an unused name are deleted when another name needs the place, not before. The
// name that was unused for longest is the first.
func TestSeriesOfANameThatIsGoneAreDeleted(t *testing.T) {
	p := newPage(t)
	p.record("10-gone")
	p.now = p.now.Add(time.Second)
	for i := range seriesNames - 1 {
		p.record(fmt.Sprintf("10-p%d", i))
	}
	p.now = p.now.Add(24 * time.Hour)
	require.Contains(t, p.counts(), "10-gone", "no other name needs its place")
	p.record("20-new")
	counts := p.counts()
	require.NotContains(t, counts, "10-gone")
	require.EqualValues(t, 1, counts["20-new"])
	require.Len(t, counts, seriesNames)
}

// A plugin that crashes and is restarted after the longest time that a kubelet waits
// keeps its counters, however many other names are recorded meanwhile.
func TestSeriesOfAPluginThatReturnsAreKept(t *testing.T) {
	p := newPage(t)
	for i := range 10 {
		p.record("10-crashes")
		p.now = p.now.Add(5*time.Minute + 10*time.Second)
		for j := range 1000 {
			p.record(fmt.Sprintf("10-burst%d-%d", i, j))
		}
	}
	counts := p.counts()
	require.EqualValues(t, 10, counts["10-crashes"])
	require.LessOrEqual(t, len(counts), seriesNames+1)
}

// A name without series gets series when a place is free.
func TestSeriesOfANameThatWaited(t *testing.T) {
	p := newPage(t)
	for i := range seriesNames {
		p.record(fmt.Sprintf("10-p%d", i))
	}
	p.now = p.now.Add(seriesKept - time.Second)
	p.record("20-new")
	require.NotContains(t, p.counts(), "20-new")
	p.now = p.now.Add(time.Second)
	p.record("20-new")
	require.EqualValues(t, 1, p.counts()["20-new"])
}

// A name that is not in use has a place as long as no other name needs it.
func TestSeriesOfANameThatIsNotInUse(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &seriesOf{now: func() time.Time { return now }}
	require.Equal(t, "10-gone", s.labelUnused("10-gone"))
	for i := range seriesNames - 1 {
		s.label(fmt.Sprintf("10-p%d", i))
	}
	require.Equal(t, otherNames, s.labelUnused("20-gone"))
	require.Equal(t, "30-new", s.label("30-new"))
	require.Equal(t, otherNames, s.labelUnused("10-gone"))
	now = now.Add(seriesKept)
	require.Equal(t, "10-p0", s.labelUnused("10-p0"))
	require.Equal(t, otherNames, s.labelUnused("20-gone"), "it does not take the place of another name")
	s.label("40-new")
	require.Len(t, s.used, seriesNames)
}

// Names are recorded and read at the same time.
func TestSeriesOfManyAtOnce(t *testing.T) {
	p := newPage(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for j := range 200 {
				p.record(fmt.Sprintf("%02d-p%d", i, j))
				if j%50 == 0 {
					_, _ = p.registry.Gather()
				}
			}
		}()
	}
	all.Wait()
	sum := 0.0
	for _, n := range p.counts() {
		sum += n
	}
	require.EqualValues(t, 8*200, sum)
}

// All metrics of NRI by plugin have bounded series. Their names and buckets are unchanged.
func TestMetricsByPluginAreBounded(t *testing.T) {
	t.Cleanup(func() { // other tests need the places
		namesOfSeries.mu.Lock()
		defer namesOfSeries.mu.Unlock()
		for name := range namesOfSeries.used {
			namesOfSeries.used[name] = time.Time{}
		}
	})
	m := newNRIMetrics()
	for i := range 2 * seriesNames {
		name := fmt.Sprintf("30-bounded%d", i)
		m.RecordPluginInvocation(name, "StopPodSandbox", nil)
		m.RecordPluginLatency(name, "StopPodSandbox", time.Second)
		m.RecordPluginAdjustments(name, "StopPodSandbox", nil, 3, 0)
	}
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	seen := 0
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "containerd_nri_plugin_") {
			continue
		}
		names := map[string]bool{}
		for _, metric := range f.GetMetric() {
			for _, l := range metric.GetLabel() {
				if l.GetName() == "plugin" {
					names[l.GetValue()] = true
				}
			}
			if h := metric.GetHistogram(); h != nil {
				require.Len(t, h.GetBucket(), len(prometheus.DefBuckets))
			}
		}
		require.LessOrEqual(t, len(names), seriesNames+1, f.GetName())
		seen += len(names)
	}
	require.Greater(t, seen, 2*seriesNames, "names of other tests have the other places")
}
