// SPDX-License-Identifier: Apache-2.0

package others

import (
	"os"
	"path/filepath"

	"github.com/hookline-nri/hookline/testkit/node"
)

// cdi is the specification of a device without a driver: the null device by another name.
const cdi = `{
  "cdiVersion": "0.6.0",
  "kind": "hookline.test/device",
  "devices": [{"name": "one", "containerEdits": {"deviceNodes": [{"path": "/dev/adjusted", "hostPath": "/dev/null", "type": "c", "major": 1, "minor": 3}]}}]
}`

// nvidia is the plugin of NVIDIA's container toolkit, which adds the CDI devices in a pod's
// annotation, of any vendor.
func nvidia() plugin {
	return plugin{
		name:      "NVIDIA's CDI plugin",
		registers: "10-nvidia",
		gives:     "CDI device",
		asks:      annotated("nvidia.cdi.k8s.io", "hookline.test/device=one"),
		command: func(n *node.Node) ([]string, error) {
			folder := filepath.Join(n.Folder(), "cdi")
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return nil, err
			}
			return []string{filepath.Join(programs, "nvidia")}, os.WriteFile(filepath.Join(folder, "hookline.json"), []byte(cdi), 0o644)
		},
		has: hasAdjusted,
	}
}
