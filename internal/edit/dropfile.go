// SPDX-License-Identifier: Apache-2.0

package edit

// DropFile removes a whole file, such as one that an earlier patch of the
// series brought and that a later one puts something better in place of.
func DropFile(path string) Edit { return Edit{path: path, remove: true} }
