// SPDX-License-Identifier: Apache-2.0

// Package nri names the places in NRI that several pull requests change.
package nri

// Files that several pull requests change, and a section of one of them.
const (
	Adaptation     = "pkg/adaptation/adaptation.go" // relays requests of the runtime to plugins
	PluginFile     = "pkg/adaptation/plugin.go"     // relays a request to one plugin
	PluginsFile    = "pkg/adaptation/plugins.go"    // of adaptation-engine
	PolicyTest     = "pkg/adaptation/failure_policy_test.go"
	FailureSection = "Request Errors, Timeouts and Failure Policy" // of README.md
)
