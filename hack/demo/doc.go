// SPDX-License-Identifier: Apache-2.0

// Package demo shows the effect of the patches: on a private node with plugins, among them one that
// fails and one that hangs, a pod runs and another one is rejected. The result shows which plugin
// received which events, in which order, and which rules held.
//
// play.go has the events, table.go prints them, and rules.go checks them. Real plugins of a real
// runtime recorded everything that is checked.
package demo
