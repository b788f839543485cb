// SPDX-License-Identifier: Apache-2.0

package edit

// DropFile removes a whole file, such as one that an earlier patch of the series
// added and a later one replaces.
func DropFile(path string) Edit { return Edit{path: path, remove: true} }
