// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"fmt"
	"strings"
)

// Severity says how soon an operator has to act: at once if critical, during the day if warning.
type Severity string

// The severities.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
)

// An Alert is a rule for Prometheus with its entry of the runbook.
type Alert struct {
	Name     string
	Expr     string // PromQL
	Rings    string // a series with its values, minute by minute, for which it fires: an input of promtool's tests
	For      string // how long the expression has to hold, as a duration of Prometheus; empty: not at all
	Severity Severity
	Summary  string // one line, with labels as {{ $labels.plugin }}

	Means string // what the alert says about the node
	Look  string // what shows the cause
	Log   string // words of the line in containerd's log that comes with it, if there is one
	Do    string // what ends it
}

// grew is an expression that holds if a counter grew within a window. increase() does not see the
// first value of a series, and most of these counters have none before their first event.
func grew(metric, window string) string {
	return fmt.Sprintf("increase(%[1]s[%[2]s]) > 0 or (%[1]s > 0 unless %[1]s offset %[2]s)", metric, window)
}

// runbook is where the entry of an alert can be read.
func (a Alert) runbook() string {
	return "https://github.com/hookline-nri/hookline/blob/main/docs/operating/alerts.md#" + strings.ToLower(a.Name)
}
