// SPDX-License-Identifier: Apache-2.0

// Package install puts a built containerd beside the one of a distribution in a root file
// system, and removes it again. The distribution's files stay as they are. A drop-in has systemd
// start the build:
//
//	/opt/hookline/bin                                        the binaries, and the program that installed them
//	/etc/systemd/system/containerd.service.d/hookline.conf   which of them runs
//
// Nothing is installed unless version and configuration fit. The programs themselves, the
// distribution's and the new one, report both, run in that root file system. Nothing is
// restarted.
package install
