// SPDX-License-Identifier: Apache-2.0

// Package release puts built binaries into what people download: an archive with the
// layout of containerd's own static releases, and beside it its checksum, what is in
// it (SPDX), what it was made of, and the series.
//
//	containerd-static-VERSION-linux-ARCH.tar.gz              bin/containerd, bin/ctr, ...
//	containerd-static-VERSION-linux-ARCH.tar.gz.sha256sum    as sha256sum -c reads it
//	containerd-static-VERSION-linux-ARCH.spdx.json           the modules in each binary
//	hookline-VERSION-series.tar.gz                           mail for git am, by module
//	hookline-VERSION-origin.json                             modules, commits, toolchain
//	SHA256SUMS                                               of all of the above
//
// The same input gives the same bytes: files are in order, belong to root, and have
// the time of the commit that is released. It knows neither git nor the go command:
// binaries and commits come from package tree.
package release
