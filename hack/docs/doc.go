// SPDX-License-Identifier: Apache-2.0

// Package docs generates the tables of the documentation from the code, and finds pages that differ
// from the code.
//
// A table stands in its page between two marker lines:
//
//	<!-- metrics -->
//	<!-- /metrics -->
//
// The tables list the patches of the series, its pull requests and the effect of each, the upstream
// changes that meet it, the patches and tests of each rule of the contract, and the settings and
// metrics that patches add. All of a table comes from the code, or from the record of a command.
//
// Code in this package reads Go source, Markdown and TOML and returns text. Package internal/tree
// makes trees and binaries.
package docs
