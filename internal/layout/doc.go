// SPDX-License-Identifier: Apache-2.0

// Package layout checks that everything that is a patch's has the patch's name,
// so that nothing else has to be looked for when a patch is changed or dropped.
// For the patch containerd/hook-last that is
//
//	patches/containerd/hook_last.go         the file, which declares HookLast alone
//	patches/containerd/files/hook_last/     what it brings, if it brings files
//
// What several patches use stands in a file that declares no patch, such as
// patches/containerd/places.go. To drop a patch is to drop its file, its folder
// and its line in the series.
//
// The names themselves come from package edit. What belongs here reads the
// repository, and says what in it is not named so.
package layout
