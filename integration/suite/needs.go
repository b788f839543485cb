// SPDX-License-Identifier: Apache-2.0

package suite

import (
	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// WithNeeds is for a node that has what a case needs.
func WithNeeds(needs Needs) func(*node.Options) {
	return func(o *node.Options) {
		o.RequestTimeout, o.RegistrationTimeout = needs.Timeouts.Request, needs.Timeouts.Registration
		if needs.Network {
			o.Config = NoRule + NetworkSettings
		}
		if needs.Required {
			o.Config = NoRule + RequiredSettings
		}
	}
}

// WithoutNRI is a runtime that asks no plugins.
func WithoutNRI(o *node.Options) { o.WithoutNRI = true }
