// SPDX-License-Identifier: Apache-2.0

// Package bench measures the built containerd against the stock one, on real
// pods and with real plugins.
//
// Both run at the same time, each on a node of its own, and take turns, so that other load on
// the machine affects both. The first one changes from turn to turn. Each scenario has nodes
// and a file of its own; bench.go lists them, pair.go has the nodes and their turns, and
// results.go writes the measurements in the format of go test -bench. The scenario "where" has
// tables of its own (breakdown.go), from the records of package programs. The statistics of
// sample.go and table.go are those of benchstat: medians with confidence intervals, and the
// Mann-Whitney U test for a difference between two samples.
//
// Performance is measured here and never asserted: a goal that is not met is reported, and is
// not an error.
package bench
