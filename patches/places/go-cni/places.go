// SPDX-License-Identifier: Apache-2.0

// Package gocni names what several pull requests of go-cni use.
package gocni

import "github.com/hookline-nri/hookline/internal/edit"

// Tests that stay here: they need modules that go-cni does not require.
var (
	leaks = "main_test.go" // goleak
	spans = "span_test.go" // OpenTelemetry's SDK
)

// Part is a package, or the given files of one.
func Part(name string, only ...string) edit.Package {
	return edit.Package{From: "internal/cri/" + name, To: name, Only: only, Except: []string{leaks, spans}}
}
