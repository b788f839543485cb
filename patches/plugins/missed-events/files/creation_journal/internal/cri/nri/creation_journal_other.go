// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package nri

// BeginCreation notes nothing where there is no NRI.
func (*API) BeginCreation(string, string) (end func()) { return func() {} }
