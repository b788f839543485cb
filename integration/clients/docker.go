// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"errors"
	"fmt"
	"os"

	"github.com/hookline-nri/hookline/testkit/host"
)

// Docker and Dockerd find docker's client and its daemon where the package docker.io installs them:
// the first one in PATH may be a wrapper. Errors wrap host.ErrPrerequisite.
func Docker() (string, error) { return installed("docker", "/usr/bin/docker") }

// Dockerd finds docker's daemon.
func Dockerd() (string, error) { return installed("dockerd", "/usr/sbin/dockerd", "/usr/bin/dockerd") }

// Check returns an error if docker is not installed.
func Check() error {
	_, client := Docker()
	_, daemon := Dockerd()
	return errors.Join(client, daemon)
}

func installed(name string, places ...string) (string, error) {
	for _, path := range places {
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: no %s in %q: install the package docker.io", host.ErrPrerequisite, name, places)
}
