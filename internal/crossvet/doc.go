// SPDX-License-Identifier: Apache-2.0

// Package crossvet type-checks packages for a platform other than this one and runs the
// analyzers of go vet on them, tests included.
//
// go vet does so as well, but compiles all that the packages are built from before, which
// for three platforms takes as many times as long as building the product. Here all
// packages are type-checked from their source, and only those asked for have their
// function bodies read. What that leaves out: no machine code is made and nothing is
// linked, and analyzers know of functions in other packages nothing but their types, so
// that wrappers of Printf in other packages are not seen.
//
// What belongs here reads source. Which packages are checked, and what becomes of what
// is found, is decided in package tree.
package crossvet
