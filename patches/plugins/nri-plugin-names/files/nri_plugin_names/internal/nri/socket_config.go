// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"cmp"
	"fmt"
	"io/fs"
	"strconv"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// defaultSocketMode is nri.DefaultSocketMode as a setting.
const defaultSocketMode = "0600"

// socketPermissions requires valid settings.
func (c *Config) socketPermissions() nri.Option {
	mode, err := c.socketMode()
	if err != nil {
		mode = nri.DefaultSocketMode
	}
	return nri.WithSocketPermissions(mode, c.SocketUID, c.SocketGID)
}

func (c *Config) socketMode() (fs.FileMode, error) {
	mode, err := strconv.ParseUint(cmp.Or(c.SocketMode, defaultSocketMode), 8, 32)
	if err != nil || mode > uint64(fs.ModePerm) {
		return 0, fmt.Errorf("socket_mode is %q: must be octal, from 0000 to 0777", c.SocketMode)
	}
	return fs.FileMode(mode), nil
}

// validateSocket returns the errors in the settings of the socket.
func (c *Config) validateSocket() (errs []error) {
	if _, err := c.socketMode(); err != nil {
		errs = append(errs, err)
	}
	// -1 is the id on a platform without numeric ids.
	if c.SocketUID < -1 || c.SocketGID < -1 {
		errs = append(errs, fmt.Errorf("socket_uid is %d and socket_gid is %d: must not be negative", c.SocketUID, c.SocketGID))
	}
	return errs
}
