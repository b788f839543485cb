// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// A distribution may append what it likes, such as -0ubuntu1. A candidate comes before its release.
var number = regexp.MustCompile(`^v?(\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?)(.*)$`)

// version asks a containerd of the node for its version. release is only the number, "v2.4.2" or
// "v2.4.2-rc.0", said is all of it.
func (n Node) version(ctx context.Context, program string) (release, said string, err error) {
	out, _, err := n.ask(ctx, program, "--version")
	if err != nil {
		return "", "", err
	}
	// The name, the package, the version, and maybe a revision.
	fields := strings.Fields(out)
	if len(fields) < 3 || fields[0] != "containerd" {
		return "", "", fmt.Errorf("%s --version says %q, which is no version of containerd", program, strings.TrimSpace(out))
	}
	m := number.FindStringSubmatch(fields[2])
	if m == nil {
		return "", "", fmt.Errorf("%s --version says %q, which is no released version", program, fields[2])
	}
	return "v" + m[1], fields[2], nil
}

// fits returns an error unless a build may replace a distribution's release. Both must be of one
// minor release, which keeps the formats on disk and of the configuration. The build must not be
// older, so that the node keeps its fixes.
func fits(distribution, build string) error {
	if semver.MajorMinor(distribution) != semver.MajorMinor(build) {
		return fmt.Errorf("the node has containerd %s, and this is a build of %s: they must be of the same minor release, as containerd's files and configuration are", distribution, build)
	}
	if semver.Compare(distribution, build) > 0 {
		return fmt.Errorf("the node has containerd %s, which is newer than this build of %s: take a build of that release, so that no fix is lost", distribution, build)
	}
	return nil
}
