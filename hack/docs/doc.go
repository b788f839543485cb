// SPDX-License-Identifier: Apache-2.0

// Package docs writes the tables of the documentation that can be had from the
// code, and finds out where a page and the code have parted.
//
// A table stands in its page between two lines of its own:
//
//	<!-- metrics -->
//	<!-- /metrics -->
//
// These are the patches of the series, its pull requests and what each of them buys, the
// changes upstream that meet it, what keeps and what tries each rule of the contract, and
// the settings and metrics that patches add. All of a table comes from the code, or from
// what a command has put on record.
//
// What belongs here reads Go source, Markdown and TOML and gives text. How trees
// and binaries are made belongs to internal/tree.
package docs
