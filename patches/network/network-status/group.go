// SPDX-License-Identifier: Apache-2.0

// Package networkstatus is one pull request. Its text is pull.md.
package networkstatus

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder: "patches/network/network-status",
	Patches: []edit.Patch{
		NetworkAttachments,
		NetworkPackages,
		NetworkStatus,
		NetworkAttach,
	},
}

// networkPackage are files of a package for the network. The check for leaked
// goroutines is not among them, as it needs a module that containerd does not require.
func networkPackage(name string, files ...string) edit.Package {
	return edit.Package{From: "internal/cri/" + name, To: "internal/cri/" + name, Only: files, Except: []string{"main_test.go"}}
}
