// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// withNeeds is for a node that has what a case needs.
func withNeeds(needs fixture.Needs) func(*node.Options) {
	return func(o *node.Options) {
		o.RequestTimeout, o.RegistrationTimeout = needs.Timeouts.Request, needs.Timeouts.Registration
		if needs.Network {
			o.Config = noRule + fixture.NetworkSettings
		}
		if needs.Required {
			o.Config = noRule + fixture.RequiredSettings
		}
	}
}

// withoutNRI is a runtime that asks no plugins.
func withoutNRI(o *node.Options) { o.WithoutNRI = true }
