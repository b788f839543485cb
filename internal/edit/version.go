// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"fmt"
	"slices"

	"golang.org/x/mod/semver"
)

// Below returns the edit for versions of the module before the given one, such as "v2.4".
// Pre-releases of that version are not before it. A place that differs between upstream's
// versions has one edit below and one since the version that changed it.
func (e Edit) Below(version string) Edit {
	e.below = version
	return e
}

// Since returns the edit for that version of the module and later ones, pre-releases included.
func (e Edit) Since(version string) Edit {
	e.since = version
	return e
}

// holds reports whether the edit is for a version of its module.
func (e Edit) holds(version string) bool {
	return (e.below == "" || semver.Compare(version, first(e.below)) < 0) &&
		(e.since == "" || semver.Compare(version, first(e.since)) >= 0)
}

// first returns a version before all pre-releases of the given one.
func first(version string) string { return semver.Canonical(version) + "-0" }

// bounds returns the errors in the versions of Below and Since.
func (e Edit) bounds() error {
	for _, v := range []string{e.below, e.since} {
		if v != "" && (!semver.IsValid(v) || semver.Prerelease(v) != "" || semver.Build(v) != "") {
			return fmt.Errorf("version %q: want one like v2.4 or v2.4.1", v)
		}
	}
	return nil
}

// At returns the series for a version of one of its modules: without the edits for other
// versions.
func (s Series) At(module, version string) Series {
	s.Patches = slices.Clone(s.Patches)
	for i, p := range s.Patches {
		if p.Module != module {
			continue
		}
		s.Patches[i].Edits = slices.DeleteFunc(slices.Clone(p.Edits), func(e Edit) bool { return !e.holds(version) })
	}
	return s
}
