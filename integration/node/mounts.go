// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"os"
	"strings"
)

type mount struct{ point, kind string }

// mountsOf reads a mountinfo file of /proc.
func mountsOf(mountinfo string) ([]mount, error) {
	content, err := os.ReadFile(mountinfo)
	if err != nil {
		return nil, err
	}
	var mounts []mount
	for line := range strings.Lines(string(content)) {
		// The fields before the dash vary in number, the fifth is the mount
		// point; after it comes the type of the file system.
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		kind, _, _ := strings.Cut(after, " ")
		if !ok || len(fields) < 5 {
			return nil, fmt.Errorf("read %s: malformed line %q", mountinfo, line)
		}
		mounts = append(mounts, mount{point: fields[4], kind: kind})
	}
	return mounts, nil
}
