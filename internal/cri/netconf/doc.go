// SPDX-License-Identifier: Apache-2.0

// Package netconf reads what go-cni has loaded, in the terms of libcni.
package netconf
