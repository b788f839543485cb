// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// suite is the release of Debian that nodes are made of.
const suite = "bookworm"

// packages are those that kind's own base image takes, without what a node needs for
// storage over a network, and with what runc is built with (runc.go).
var packages = []string{
	"systemd", "systemd-sysv", "dbus", "iproute2", "iptables", "mount", "procps", "kmod", "conntrack", "ebtables",
	"ethtool", "socat", "util-linux", "libseccomp-dev", "jq", "hostname", "openssl", "rsync",
}

func (m Maker) base() string { return filepath.Join(m.Out, "base.tar") }

// baseOf says what the base is made of.
func (m Maker) baseOf() string { return suite + " " + strings.Join(packages, ",") }

// makeBase makes a root file system of Debian's packages, from the host's own sources.
func (m Maker) makeBase(ctx context.Context) error {
	if err := needs("a node image of Debian's packages", "mmdebstrap=mmdebstrap"); err != nil {
		return err
	}
	return m.once("base", m.baseOf(), "root file system of Debian's packages", m.base(), func() error {
		fresh := m.base() + ".new"
		_, err := output(exec.CommandContext(ctx, "mmdebstrap", "--variant=minbase", "--include="+strings.Join(packages, ","), "--format=tar", suite, fresh))
		if err != nil {
			return err
		}
		return os.Rename(fresh, m.base())
	})
}
