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

// packages are those of kind's own base image, without packages for storage over a network, and with
// packages to build runc (runc.go).
var packages = []string{
	"systemd", "systemd-sysv", "dbus", "iproute2", "iptables", "mount", "procps", "kmod", "conntrack", "ebtables",
	"ethtool", "socat", "util-linux", "libseccomp-dev", "jq", "hostname", "openssl", "rsync",
}

func (m Maker) base() string { return filepath.Join(m.Out, "base.tar") }

// baseOf names the sources of the base.
func (m Maker) baseOf() string { return suite + " " + strings.Join(packages, ",") }

// makeBase makes the root file system that nodes are built on.
func (m Maker) makeBase(ctx context.Context) error {
	return m.makeDebian(ctx, "base", m.base(), installed, packages)
}

// How packages are put into a root file system, as a variant of mmdebstrap.
const (
	installed = "minbase" // in a small system
	unpacked  = "extract" // with only their dependencies
)

// makeDebian makes a root file system of Debian's packages, from the host's own sources.
func (m Maker) makeDebian(ctx context.Context, name, archive, variant string, packages []string) error {
	if err := needs("a root file system of Debian's packages", "mmdebstrap=mmdebstrap"); err != nil {
		return err
	}
	include := strings.Join(packages, ",")
	return m.once(name, strings.Join([]string{suite, variant, include}, " "), "root file system of Debian's packages: "+name, archive, func() error {
		fresh := archive + ".new"
		_, err := output(exec.CommandContext(ctx, "mmdebstrap", "--variant="+variant, "--include="+include, "--format=tar", suite, fresh))
		if err != nil {
			return err
		}
		return os.Rename(fresh, archive)
	})
}
