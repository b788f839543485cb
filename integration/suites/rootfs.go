// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/node"
)

// Programs are the files that the images are made of.
type Programs struct {
	Rootfs string // a root file system with busybox and nginx, as tar
	EUID   string // the program in euid
	Pause  string // a program that does nothing
}

// packages are the packages of the distribution in the root file system, with their dependencies.
// procps and util-linux have pgrep and ipcs, which Debian's busybox lacks; a test runs stress.
const packages = "busybox-static,nginx,procps,stress,util-linux"

// finish links the names of busybox's commands, and removes files that are not used here. Its first
// argument is the root file system.
const finish = `for a in $("$1/bin/busybox" --list); do [ "$a" = busybox ] || ln -sf busybox "$1/bin/$a"; done
rm -rf "$1/usr/share" "$1/var/lib/dpkg" "$1/usr/lib/"*/perl*`

// Make makes the files in a folder, unless they exist. It runs go in the current directory, which
// must belong to this module, and takes packages from the host's package sources.
func Make(ctx context.Context, folder string) (Programs, error) {
	of := sha256.Sum256([]byte(packages + finish))
	p := Programs{Rootfs: filepath.Join(folder, fmt.Sprintf("rootfs-%x.tar", of[:4])), EUID: filepath.Join(folder, "euid"), Pause: filepath.Join(folder, "pause")}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return p, err
	}
	if err := image.Build(ctx, p.EUID, "github.com/hookline-nri/hookline/integration/suites/euid"); err != nil {
		return p, err
	}
	if err := image.BuildProgram(ctx, p.Pause); err != nil {
		return p, err
	}
	if _, err := os.Stat(p.Rootfs); err == nil {
		return p, nil
	}
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		return p, fmt.Errorf("%w: no mmdebstrap in PATH, to make the images of the suites: install the package mmdebstrap", node.ErrPrerequisite)
	}
	suite, err := suite()
	if err != nil {
		return p, err
	}
	fresh := p.Rootfs + ".new"
	made := exec.CommandContext(ctx, "mmdebstrap", "--variant=extract", "--include="+packages, "--format=tar", "--extract-hook="+finish, suite, fresh)
	if out, err := made.CombinedOutput(); err != nil {
		return p, fmt.Errorf("%w: the packages of the suites' images cannot be downloaded or unpacked: %w: %s", node.ErrPrerequisite, err, bytes.TrimSpace(out))
	}
	return p, os.Rename(fresh, p.Rootfs)
}

// suite is the release of the host's distribution, such as bookworm.
func suite() (string, error) {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`(?m)^VERSION_CODENAME=(.+)$`).FindSubmatch(release)
	if found == nil {
		return "", errors.New("/etc/os-release has no VERSION_CODENAME: the images of the suites are made of packages of Debian or Ubuntu")
	}
	return strings.Trim(string(found[1]), `"`), nil
}
