// SPDX-License-Identifier: Apache-2.0

// Package gocni has helpers for several pull requests of go-cni.
package gocni

import "github.com/hookline-nri/hookline/internal/edit"

// Tests that are not copied: they need modules that go-cni does not require.
var (
	leaks = "main_test.go" // goleak
	spans = "span_test.go" // OpenTelemetry's SDK
)

// Part is a package, or only the given files of it.
func Part(name string, only ...string) edit.Package {
	return edit.Package{From: "internal/cri/" + name, To: name, Only: only, Except: []string{leaks, spans}}
}
