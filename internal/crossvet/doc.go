// SPDX-License-Identifier: Apache-2.0

// Package crossvet type-checks packages for a platform other than this one and runs the
// analyzers of go vet on them, tests included.
//
// go vet does so as well, but first compiles everything that the packages import. For three
// platforms that takes three times as long as building the product. Here all packages are
// type-checked from their source, and function bodies are read only in the packages to check.
// The price: no machine code is made and nothing is linked, and analyzers know only the types of
// functions in other packages, so that they miss wrappers of Printf there.
//
// Code in this package reads source. Package tree decides which packages are checked, and what
// happens with the findings.
package crossvet
