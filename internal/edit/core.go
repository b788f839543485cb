// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"slices"
)

// Core returns the series of the groups of the core, and of the patches that exist only to
// build. The series of each module begins with it, so that each commit of the core is also a
// commit of the whole series.
func (s Series) Core() Series {
	core := s.core()
	s.Patches = slices.DeleteFunc(slices.Clone(s.Patches), func(p Patch) bool { return !core[p.Name()] })
	s.Groups = slices.DeleteFunc(slices.Clone(s.Groups), func(g Group) bool { return !g.Core })
	return s
}

// core returns the names of the patches of the core, none if no group belongs to it.
func (s Series) core() map[string]bool {
	core := map[string]bool{}
	for _, g := range s.Groups {
		if g.Core {
			mark(core, g.Patches)
		}
	}
	if len(core) > 0 {
		mark(core, s.building())
	}
	return core
}

// validateCore returns an error for each patch of the core that needs one outside of it, or
// comes after one.
func (s Series) validateCore() error {
	var errs []error
	core, other := s.core(), map[string]string{}
	for _, p := range s.Patches {
		if !core[p.Name()] {
			if other[p.Module] == "" {
				other[p.Module] = p.Name()
			}
			continue
		}
		if before := other[p.Module]; before != "" {
			errs = append(errs, fmt.Errorf("%s: belongs to the core, but comes after %s, which does not", p.Name(), before))
		}
		for _, need := range p.Needs {
			if !core[need] {
				errs = append(errs, fmt.Errorf("%s: belongs to the core, but needs %s, which does not", p.Name(), need))
			}
		}
	}
	return errors.Join(errs...)
}
