// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hookline-nri/hookline/monitoring"
)

// monitoringFiles returns the rules and the dashboard as they should be, by path below the root of
// the repository.
func monitoringFiles(r Repository, p Pages) (map[string][]byte, error) {
	if p.Alerts == "" {
		return nil, nil
	}
	metrics, err := addedMetrics(r.Modules)
	if err != nil {
		return nil, err
	}
	defined := make([]monitoring.Metric, 0, len(metrics))
	for _, m := range metrics {
		defined = append(defined, monitoring.Metric{Name: m.name, Kind: m.kind, Labels: m.labels, Help: m.help})
	}
	rules, failed := monitoring.Rules(monitoring.Alerts)
	dashboard, err := monitoring.Dashboard(defined)
	return map[string][]byte{
		path.Join(p.Alerts, "alerts.yaml"):    rules,
		path.Join(p.Alerts, "dashboard.json"): dashboard,
	}, errors.Join(append(monitoring.Check(monitoring.Alerts, defined), failed, err)...)
}

// checkMonitoring returns an error for an alert about nothing that the patches define, and for each
// file that differs from the code.
func checkMonitoring(r Repository, p Pages) (errs []error) {
	files, err := monitoringFiles(r, p)
	if err != nil {
		return []error{err}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		is, err := os.ReadFile(filepath.Join(r.Root, name))
		if err == nil && !bytes.Equal(is, files[name]) {
			err = fmt.Errorf("%s differs from the code: run check --update", name)
		}
		errs = append(errs, err)
	}
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}
