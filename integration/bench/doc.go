// SPDX-License-Identifier: Apache-2.0

// Package bench measures the built containerd against the stock one, on real
// pods and with real plugins.
//
// Both run at the same time, each on a node of its own, and take turns: other load on
// the machine affects both. Which of them begins changes from turn to turn. Each
// scenario has nodes of its own and is a file of its own; bench.go lists them, pair.go
// has the nodes and their turns, and results.go writes the measurements as go test
// -bench would. Scenario where has tables of its own (breakdown.go), made of what
// package programs recorded. The statistics of sample.go
// and table.go are those of benchstat: medians with their confidence intervals,
// and the Mann-Whitney U test of whether two samples differ.
//
// Performance is measured here and never asserted: whether a goal was met is
// reported, and is not an error.
package bench
