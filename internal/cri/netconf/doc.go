// SPDX-License-Identifier: Apache-2.0

// Package netconf converts the configuration that go-cni has loaded to libcni's types.
package netconf
