// SPDX-License-Identifier: Apache-2.0

package others

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookline-nri/hookline/integration/node"
)

// plugins are all that there are.
func plugins() ([]plugin, error) {
	stubs, err := filepath.Glob(filepath.Join(programs, "stub-*"))
	if err != nil {
		return nil, err
	}
	if len(stubs) == 0 {
		return nil, errors.New("no program of NRI's stub in " + programs)
	}
	var all []plugin
	for _, program := range stubs {
		all = append(all, stub(program))
	}
	return append(all, nvidia(), memoryPolicy(), dranet()), nil
}

// stub is the program over NRI's stub of a version.
func stub(program string) plugin {
	const path = "/dev/adjusted"
	return plugin{
		name:      "NRI's " + strings.Replace(filepath.Base(program), "-", " ", 1),
		registers: "10-stub",
		gives:     "device",
		asks:      map[string]string{"stub/device": path},
		command:   func(*node.Node) ([]string, error) { return []string{program}, nil },
		has:       hasDevice(path),
		tells:     true,
	}
}

// hasDevice tells whether a container has a device.
func hasDevice(path string) func(string, int) error {
	return func(_ string, pid int) error {
		info, err := os.Stat(filepath.Join("/proc", fmt.Sprint(pid), "root", path))
		if err == nil && info.Mode()&os.ModeCharDevice == 0 {
			err = fmt.Errorf("%s is no device: %s", path, info.Mode())
		}
		return err
	}
}
