// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"slices"
)

// Core is the series of the groups of the core, and of the patches that exist only to
// build. It is where the series of each module begins, so that a commit of the core is
// one of the whole series, too.
func (s Series) Core() Series {
	core := s.core()
	s.Patches = slices.DeleteFunc(slices.Clone(s.Patches), func(p Patch) bool { return !core[p.Name()] })
	s.Groups = slices.DeleteFunc(slices.Clone(s.Groups), func(g Group) bool { return !g.Core })
	return s
}

// core are the names of the patches of the core. It has none where no group is of it.
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

// validateCore returns the patches of the core that need others, and those of others
// that come before them.
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
			errs = append(errs, fmt.Errorf("%s: is of the core, and comes after %s, which is not", p.Name(), before))
		}
		for _, need := range p.Needs {
			if !core[need] {
				errs = append(errs, fmt.Errorf("%s: is of the core, and needs %s, which is not", p.Name(), need))
			}
		}
	}
	return errors.Join(errs...)
}
