// SPDX-License-Identifier: Apache-2.0

// Package peers runs other runtimes with NRI, each on a host of its own: CRI-O and moby's daemon.
package peers
