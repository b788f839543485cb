// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// tunables are the settings of the whole kernel that a node changes, even in a container. The kubelet
// does (setupKernelTunables of its container manager), and systemd raises the number of open files.
var tunables = []string{
	"/proc/sys/vm/overcommit_memory",
	"/proc/sys/vm/panic_on_oom",
	"/proc/sys/kernel/panic",
	"/proc/sys/kernel/panic_on_oops",
	"/proc/sys/kernel/keys/root_maxkeys",
	"/proc/sys/kernel/keys/root_maxbytes",
	"/proc/sys/fs/file-max",
	"/proc/sys/fs/nr_open",
}

// keepTunables saves the kernel's settings in a file, unless they are saved already.
func keepTunables(file string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	kept := map[string]string{}
	for _, name := range tunables {
		value, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("keep the kernel's settings: %w", err)
		}
		kept[name] = strings.TrimSpace(string(value))
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// putTunablesBack restores the settings that differ from the saved ones, and removes the file.
func putTunablesBack(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var kept map[string]string
	if err := json.Unmarshal(text, &kept); err != nil {
		return fmt.Errorf("read the saved settings of the kernel in %s: %w", file, err)
	}
	var errs []error
	for name, value := range kept {
		now, err := os.ReadFile(name)
		if err == nil && strings.TrimSpace(string(now)) != value {
			err = os.WriteFile(name, []byte(value), 0o600)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("put the kernel's settings back: %w", err)
	}
	return os.Remove(file)
}
