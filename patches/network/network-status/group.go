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

// networkPackage returns files of a package for the network. It leaves out the check for leaked
// goroutines, which needs a module that containerd does not require.
func networkPackage(name string, files ...string) edit.Package {
	return edit.Package{From: "internal/cri/" + name, To: "internal/cri/" + name, Only: files, Except: []string{"main_test.go"}}
}
