// SPDX-License-Identifier: Apache-2.0

// Package install puts a built containerd beside the one that a distribution has
// placed in a root file system, and takes it away again. The distribution's files stay
// as they are; systemd is pointed at others by a drop-in:
//
//	/opt/hookline/bin                                        the binaries
//	/etc/systemd/system/containerd.service.d/hookline.conf   which of them runs
//
// Nothing is placed unless version and configuration fit: both are asked of the
// programs themselves, the distribution's and the new one, in that root file system.
// Nothing is restarted.
package install
