// SPDX-License-Identifier: Apache-2.0

// Package tree turns a series of patches into git repositories, binaries and
// mail.
//
// A pinned upstream module is taken from the module cache, checked against
// go.sum, and becomes the base commit of a repository of its own; each patch
// of the series is one commit on top. From these trees the product is built,
// upstream's own tests are run, and the series is exported for `git am`.
//
//	<out>/lock                  held by the run at work, says which one
//	<out>/src/<module>          a git repository: tag upstream, branch hookline
//	<out>/bin                   what was built, and the stamp of what it was built from
//	<out>/stock/{src,bin}       the same for the module without patches
//	<out>/core/...              the same for the core of the series
//	<out>/series/<module>       the exported series
//	<out>/checked               one file per commit, per API and per platform that passed its checks
//	<out>/tmp                   emptied by each run
//
// Three things hold, and every file here is about one of them:
//
//   - The same input gives the same commits. Identity and dates are fixed, git
//     sees neither the user's settings nor environment, and objects are written
//     through fast-import, so that no filter, mode or umask changes them.
//   - Nothing is done twice. All patches are applied in memory first; a commit is
//     found again by the hash of its parent's key, its message and its content.
//   - A run may be killed at any point. References move after the objects exist, a
//     marker file exists while a work tree changes, binaries and mail are renamed into
//     place, and a lock keeps two runs apart.
//
// What belongs here needs git, the go command or the output folder. How source
// is edited belongs to package edit, what is printed to the commands in hack.
package tree
