// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cniexec

var system host = alone{}
