// SPDX-License-Identifier: Apache-2.0

package required

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// gates is the configuration of a node whose network is gated by plugins, with their grace period,
// and with the time that pods wait for them.
func gates(grace, wait string, plugins ...string) string {
	config := NoRule
	for _, name := range plugins {
		config += fmt.Sprintf("[plugins.'io.containerd.nri.v1.nri'.plugins.%q]\nrequired_for = ['pods', 'containers']\ngates_network = true\nwait = %q\nnetwork_grace = %q\n", name, wait, grace)
	}
	return config
}

// requireDisconnected waits until a node's network is not ready for want of exactly these plugins.
func requireDisconnected(t require.TestingT, n Runtime, plugins ...string) {
	var parts []string
	for _, name := range plugins {
		parts = append(parts, fmt.Sprintf(`required plugin %s is disconnected since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`, name))
	}
	message := regexp.MustCompile("^" + strings.Join(parts, "; ") + "$")
	RequireNetwork(t, n, "not ready for want of "+strings.Join(plugins, " and "), func(c *runtime.RuntimeCondition) bool {
		return !c.GetStatus() && c.GetReason() == "NRIPluginDisconnected" && message.MatchString(c.GetMessage())
	})
}
