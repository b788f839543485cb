// SPDX-License-Identifier: Apache-2.0

// Package tree turns a series of patches into git repositories, binaries and
// mail.
//
// A pinned upstream module is taken from the module cache, checked against
// go.sum, and becomes the base commit of a repository of its own; each patch
// of the series is one commit on top. From these trees the product is built,
// upstream's own tests are run, and the series is exported for `git am`.
//
//	<out>/lock                  held by the current run, and names it
//	<out>/src/<module>          a git repository: tag upstream, branch hookline
//	<out>/bin                   the binaries, and a stamp of their sources
//	<out>/stock/{src,bin}       the same for the module without patches
//	<out>/core/...              the same for the core of the series
//	<out>/series/<module>       the exported series
//	<out>/checked               one file per commit, per API and per platform that passed its checks
//	<out>/tmp                   emptied by each run
//
// Every file here serves one of three rules:
//
//   - The same input gives the same commits. Identity and dates are fixed, git
//     sees neither the user's settings nor environment, and objects are written
//     through fast-import, so that no filter, mode or umask changes them.
//   - Nothing is done twice. All patches are applied in memory first, and a commit that exists
//     is found by the hash of its parent's key, its message and its content.
//   - A run may be killed at any point. References move after the objects exist, a
//     marker file exists while a work tree changes, binaries and mail are renamed into
//     place, and a lock keeps two runs apart.
//
// Code in this package needs git, the go command or the output folder. Package edit edits source,
// and the commands in hack print.
package tree
