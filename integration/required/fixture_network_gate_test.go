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

// gates is the configuration of a node whose network waits for plugins, and goes on
// without them for a grace, while pods wait for them for a time of their own.
func gates(grace, wait string, plugins ...string) string {
	config := NoRule
	for _, name := range plugins {
		config += fmt.Sprintf("[plugins.'io.containerd.nri.v1.nri'.plugins.%q]\nrequired_for = ['pods', 'containers']\ngates_network = true\nwait = %q\nnetwork_grace = %q\n", name, wait, grace)
	}
	return config
}

// requireDisconnected waits for a node's network to wait for these plugins, and for no other.
func requireDisconnected(t require.TestingT, n Runtime, plugins ...string) {
	var parts []string
	for _, name := range plugins {
		parts = append(parts, fmt.Sprintf(`required plugin %s is disconnected since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`, name))
	}
	message := regexp.MustCompile("^" + strings.Join(parts, "; ") + "$")
	RequireNetwork(t, n, "not ready for want of "+strings.Join(plugins, " and "), func(c *runtime.RuntimeCondition) bool {
		return !c.GetStatus() && c.GetReason() == "nriPluginDisconnected" && message.MatchString(c.GetMessage())
	})
}
