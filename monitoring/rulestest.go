// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// The form of a test of rules is that of promtool, https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/.
type (
	rulesTest struct {
		RuleFiles          []string `yaml:"rule_files"`
		EvaluationInterval string   `yaml:"evaluation_interval"`
		Tests              []test   `yaml:"tests"`
	}
	test struct {
		Name        string     `yaml:"name"`
		Interval    string     `yaml:"interval"`
		InputSeries []series   `yaml:"input_series"`
		Exprs       []exprTest `yaml:"promql_expr_test"`
	}
	series struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	}
	exprTest struct {
		Expr     string   `yaml:"expr"`
		EvalTime string   `yaml:"eval_time"`
		Samples  []sample `yaml:"exp_samples"`
	}
	sample struct {
		Labels string  `yaml:"labels"`
		Value  float64 `yaml:"value"`
	}
)

// RulesTest returns a test for promtool of a file of rules: each alert fires for its series, alone,
// and none fires while nothing happens.
func RulesTest(file string, alerts []Alert) ([]byte, error) {
	firing := `count by (alertname) (ALERTS{alertstate="firing"})`
	t := rulesTest{RuleFiles: []string{file}, EvaluationInterval: "1m"}
	quiet := test{Name: "quiet", Interval: "1m", Exprs: []exprTest{{Expr: firing, EvalTime: "30m", Samples: []sample{}}}}
	for _, a := range alerts {
		metric, values, ok := strings.Cut(a.Rings, "} ")
		if !ok {
			return nil, fmt.Errorf("alert %s: %q is no series with values", a.Name, a.Rings)
		}
		metric += "}"
		held, err := time.ParseDuration(cmp.Or(a.For, "0s"))
		if err != nil {
			return nil, fmt.Errorf("alert %s: %w", a.Name, err)
		}
		at := max(30*time.Minute, 20*time.Minute+held)
		t.Tests = append(t.Tests, test{
			Name: a.Name, Interval: "1m",
			InputSeries: []series{{metric, values}},
			Exprs:       []exprTest{{Expr: firing, EvalTime: at.String(), Samples: []sample{{fmt.Sprintf(`{alertname=%q}`, a.Name), 1}}}},
		})
		quiet.InputSeries = append(quiet.InputSeries, series{metric, "0x30"})
	}
	t.Tests = append(t.Tests, quiet)
	return yaml.Marshal(t)
}
