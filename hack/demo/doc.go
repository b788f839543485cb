// SPDX-License-Identifier: Apache-2.0

// Package demo shows what the patches do: a private node, plugins of which one fails
// and one hangs, pods that run and a pod that is refused, and at the end which plugin
// got which events, in which order, and which rules held.
//
// play.go is what happens, table.go how it is shown, rules.go what is checked.
// Nothing is checked that was not recorded by a real plugin of a real runtime.
package demo
