// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README says of other projects' plugins what the report does: lost on stock, kept on hookline.
func TestREADMEOfPlugins(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	report, err := os.ReadFile("../reports/plugins.md")
	require.NoError(t, err)
	for line, claim := range map[string]struct{ plugins, verdicts []string }{
		`(?m)^- \*\*dranet, network-device-injector\*\*: a pod ends after a kill of containerd, or while it is down\. Its network device is back on the node\.$`: {
			plugins:  []string{"dranet", "NRI's network-device-injector v0.8.0"},
			verdicts: []string{"network device is back from a pod that ended after a kill of the runtime", "network device is back from a pod that died while the runtime was down"},
		},
		`(?m)^- \*\*dranet, network-device-injector\*\*: the plugin connects while a pod is being created\. The pod gets its device\.$`: {
			plugins:  []string{"dranet", "NRI's network-device-injector v0.8.0"},
			verdicts: []string{"a container has its network device where the plugin joined while the pod was created"},
		},
		`(?m)^- \*\*logger\*\*, with the stubs of NRI v0\.6 to v0\.12: it receives the ends of pods that ended while it or containerd was down\.$`: {
			plugins:  []string{"NRI's logger v0.6.1", "NRI's logger v0.8.0", "NRI's logger v0.9.0", "NRI's logger v0.10.0", "NRI's logger v0.11.0", "NRI's logger v0.12.5"},
			verdicts: []string{"receives the ends that it missed", "receives the end of a pod that died while the runtime was down", "receives the end of a pod that ended after a kill of the runtime"},
		},
		`(?m)^- \*\*device-injector, ulimit-adjuster, memory-policy, NVIDIA's CDI plugin\*\*: a second instance takes over\. `: {
			plugins:  []string{"NRI's device-injector v0.12.5", "NRI's ulimit-adjuster v0.8.0", "memory-policy of nri-plugins", "NVIDIA's CDI plugin"},
			verdicts: []string{"a container has its (device|limit|memory policy|CDI device) beside a second instance"},
		},
	} {
		require.Regexp(t, line, string(readme))
		for _, plugin := range claim.plugins {
			for _, verdict := range claim.verdicts {
				require.Regexp(t, `(?m)^\| `+regexp.QuoteMeta(plugin)+": "+verdict+` \| failed \| passed \|`, string(report))
			}
		}
	}
}
