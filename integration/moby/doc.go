// SPDX-License-Identifier: Apache-2.0

// Package moby tests moby's daemon with the NRI that it was built with, released or patched:
// no test may fail with the patched one that passes with the released one. Of NRI's events
// moby sends CreateContainer, and of its means Synchronize and BlockPluginSync; a
// container is its own pod there. make peers builds the daemons and runs the tests:
//
//	DOCKERD=folder go test ./integration/moby
package moby
