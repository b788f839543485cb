// SPDX-License-Identifier: Apache-2.0

// Package archive writes and reads the archives of a release, and their checksums. The program that
// installs a release has it, so it depends on nothing.
package archive
