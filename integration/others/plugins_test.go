// SPDX-License-Identifier: Apache-2.0

package others

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookline-nri/hookline/testkit/node"
)

// plugins returns all plugins.
func plugins() ([]plugin, error) {
	samples, err := samples()
	return append(samples, stub(), nvidia(), memoryPolicy(), dranet()), err
}

// adjusted is a device for containers: /dev/null by another name.
const adjusted = "/dev/adjusted"

// stub is a program over an old stub of NRI, for which logger and device-injector are too new.
func stub() plugin {
	return plugin{
		name:      "a program over NRI's stub v0.3.0",
		registers: "10-stub",
		gives:     "device",
		asks:      annotated("stub/device", adjusted),
		command:   func(*node.Node) ([]string, error) { return []string{filepath.Join(programs, "stub")}, nil },
		has:       hasAdjusted,
		tells:     true,
	}
}

// hasAdjusted returns nil if a container has the device.
func hasAdjusted(_ *node.Node, _ string, pid int) error {
	info, err := os.Stat(filepath.Join("/proc", fmt.Sprint(pid), "root", adjusted))
	if err == nil && info.Mode()&os.ModeCharDevice == 0 {
		err = fmt.Errorf("%s is no device: %s", adjusted, info.Mode())
	}
	return err
}
