// SPDX-License-Identifier: Apache-2.0

package install

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/pelletier/go-toml/v2"
)

// state returns containerd's state folder, which its configuration may set.
func (n Node) state(config string) (string, error) {
	content, err := n.read(config)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	set := struct {
		State string `toml:"state"`
	}{State: "/run/containerd"}
	if err := toml.Unmarshal(content, &set); err != nil {
		return "", fmt.Errorf("%s of %s: %w", config, n.Root, err)
	}
	return n.path(set.State)
}
