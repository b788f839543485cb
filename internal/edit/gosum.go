// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/module"
)

// GoSum adds lines to the go.sum file at path, "MODULE VERSION HASH" each, in the order
// that the go command has them in. A line that is there already is an error.
func GoSum(path string, add ...string) Edit {
	return Edit{path: path, mod: func(src []byte) ([]byte, error) {
		var all []module.Version
		hashes := map[module.Version]string{}
		take := func(line string) error {
			f := strings.Fields(line)
			if len(f) != 3 {
				return fmt.Errorf("line %q: want module, version and hash", line)
			}
			m := module.Version{Path: f[0], Version: f[1]}
			if hashes[m] != "" {
				return fmt.Errorf("%s %s is given twice", m.Path, m.Version)
			}
			hashes[m] = f[2]
			all = append(all, m)
			return nil
		}
		var errs []error
		for line := range strings.Lines(string(src)) {
			errs = append(errs, take(line))
		}
		for _, line := range add {
			errs = append(errs, take(line))
		}
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
		module.Sort(all)
		var out strings.Builder
		for _, m := range all {
			fmt.Fprintf(&out, "%s %s %s\n", m.Path, m.Version, hashes[m])
		}
		return []byte(out.String()), nil
	}}
}
