// SPDX-License-Identifier: Apache-2.0

// Package moby tests moby's daemon with released and with patched NRI: a test that passes with the
// released one must pass with the patched one. Of NRI's events moby sends Synchronize and
// CreateContainer, and it uses BlockPluginSync; a container is its own pod there. make peers builds
// the daemons and runs the tests:
//
//	DOCKERD=folder go test ./integration/moby
package moby
