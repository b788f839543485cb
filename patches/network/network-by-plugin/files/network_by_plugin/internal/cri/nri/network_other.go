// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package nri

// NetworkPlugin returns none, because this platform has no NRI.
func (*API) NetworkPlugin() string { return "" }
