// SPDX-License-Identifier: Apache-2.0

// Package nrinames is one pull request. Its text is pull.md.
package nrinames

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder: "patches/adaptation/nri-names",
	Patches: []edit.Patch{
		WhoConnects,
		PluginPeer,
		RegistrationLog,
	},
}

// registration is a file that adaptation-engine brings.
const registration = "pkg/adaptation/registration.go"
