// SPDX-License-Identifier: Apache-2.0

// Package monitoring has the alerts for a node with hookline, and writes them as rules for Prometheus
// and as a runbook, and a dashboard for Grafana from the metrics that the patches define.
//
// alerts.yaml and dashboard.json beside this file are generated, and so is the runbook in
// docs/operating/alerts.md: hack check compares them with the code, and fails if an alert uses a
// metric or a label that no patch defines.
package monitoring
