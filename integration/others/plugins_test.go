// SPDX-License-Identifier: Apache-2.0

package others

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookline-nri/hookline/testkit/node"
)

// plugins are all that there are.
func plugins() ([]plugin, error) {
	samples, err := samples()
	return append(samples, stub(), nvidia(), memoryPolicy(), dranet()), err
}

// adjusted is a device that containers get: /dev/null by another name.
const adjusted = "/dev/adjusted"

// stub is the program over a stub that NRI's logger and device-injector are too new for.
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

// hasAdjusted tells whether a container has the device.
func hasAdjusted(_ *node.Node, _ string, pid int) error {
	info, err := os.Stat(filepath.Join("/proc", fmt.Sprint(pid), "root", adjusted))
	if err == nil && info.Mode()&os.ModeCharDevice == 0 {
		err = fmt.Errorf("%s is no device: %s", adjusted, info.Mode())
	}
	return err
}
