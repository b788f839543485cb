// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Metric is one that the patches define.
type Metric struct {
	Name   string
	Kind   string // counter, gauge or histogram
	Labels []string
	Help   string
}

var (
	named = regexp.MustCompile(`\b(containerd_\w+)(?:\{([^}]*)\})?`)
	label = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	by    = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

// Check returns an error for each metric or label of the alerts that the patches do not define.
func Check(alerts []Alert, metrics []Metric) (errs []error) {
	for _, a := range alerts {
		var has []string // labels of all metrics of the alert
		for _, m := range named.FindAllStringSubmatch(a.Expr, -1) {
			i := slices.IndexFunc(metrics, func(d Metric) bool { return d.Name == m[1] })
			if i < 0 {
				errs = append(errs, fmt.Errorf("alert %s: no patch defines metric %s", a.Name, m[1]))
				continue
			}
			has = append(has, metrics[i].Labels...)
			for _, l := range label.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(metrics[i].Labels, l[1]) {
					errs = append(errs, fmt.Errorf("alert %s: metric %s has no label %s", a.Name, m[1], l[1]))
				}
			}
		}
		for _, list := range by.FindAllStringSubmatch(a.Expr, -1) {
			for _, l := range strings.Split(list[1], ",") {
				if l = strings.TrimSpace(l); l != "instance" && !slices.Contains(has, l) {
					errs = append(errs, fmt.Errorf("alert %s: none of its metrics has label %s", a.Name, l))
				}
			}
		}
	}
	return errs
}
