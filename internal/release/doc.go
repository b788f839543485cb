// SPDX-License-Identifier: Apache-2.0

// Package release makes the files that users download. Built binaries go into an archive with the
// layout of containerd's own static releases. Beside it are its checksum, its bill of materials
// (SPDX), its origin, and the series.
//
//	containerd-static-VERSION-linux-ARCH.tar.gz              bin/containerd, bin/ctr, ...
//	containerd-static-VERSION-linux-ARCH.tar.gz.sha256sum    as sha256sum -c reads it
//	containerd-static-VERSION-linux-ARCH.spdx.json           the modules in each binary
//	hookline-VERSION-series.tar.gz                           mails for git am, by module
//	hookline-VERSION-origin.json                             modules, commits, toolchain
//	SHA256SUMS                                               of all of the above
//
// The same input gives the same bytes: files are in order, belong to root, and have the time of
// the released commit. The package knows neither git nor the go command: binaries and commits
// come from package tree.
package release
