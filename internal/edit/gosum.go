// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// GoSum replaces the lines of modules in the go.sum file at path by the given ones, "MODULE
// VERSION HASH" each. A version that has only a go.mod line stays: another module may still
// require it.
func GoSum(path string, lines ...string) Edit {
	return document(path, "checksums", func(doc string) (string, error) {
		named := map[string]bool{}
		for _, line := range lines {
			f := strings.Fields(line)
			if len(f) != 3 || !strings.HasPrefix(f[2], "h1:") {
				return "", fmt.Errorf("%q is not a module, a version and a checksum", line)
			}
			named[f[0]] = true
		}
		kept := slices.Clone(lines)
		for line := range strings.Lines(doc) {
			mod, rest, _ := strings.Cut(line, " ")
			version, _, _ := strings.Cut(rest, " ")
			version, ofMod := strings.CutSuffix(version, "/go.mod")
			if !named[mod] || ofMod && !strings.Contains(doc, mod+" "+version+" h1:") {
				kept = append(kept, strings.TrimSuffix(line, "\n"))
			}
		}
		slices.SortFunc(kept, compareSums)
		return strings.Join(slices.Compact(kept), "\n") + "\n", nil
	})
}

// compareSums orders lines as the go command does: by module, version, and the content
// before its go.mod.
func compareSums(a, b string) int {
	f, g := strings.Fields(a), strings.Fields(b)
	if c := strings.Compare(f[0], g[0]); c != 0 {
		return c
	}
	v, ofMod := strings.CutSuffix(f[1], "/go.mod")
	u, uOfMod := strings.CutSuffix(g[1], "/go.mod")
	if c := semver.Compare(v, u); c != 0 {
		return c
	}
	switch {
	case ofMod == uOfMod:
		return 0
	case uOfMod:
		return -1
	}
	return 1
}
