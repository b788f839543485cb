// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"slices"
)

// Group is one pull request: patches of one module, in the order of the series, on
// top of the patches that they need.
type Group struct {
	Name    string   // of its branch, and of the page that has its text
	Title   string   // of the pull request
	Core    bool     // it stands by itself, or on others of the core
	Patches []string // by name, all of one module
}

// Module is the short name of the module that the group is for.
func (g Group) Module(s Series) string {
	if p, ok := s.patch(g.Patches[0]); ok {
		return p.Module
	}
	return ""
}

// Group returns the group of that name.
func (s Series) Group(name string) (Group, error) {
	for _, g := range s.Groups {
		if g.Name == name {
			return g, nil
		}
	}
	return Group{}, fmt.Errorf("the series has no group %q: see docs/upstreaming.md", name)
}

// Needs lists the groups that have to be merged before this one, in the order of the
// series' groups: those of the patches that its own need, however far away.
func (s Series) Needs(g Group) []Group {
	var before []Group
	with := s.With(g)
	for _, other := range s.Groups {
		if other.Name != g.Name && slices.ContainsFunc(with.Patches, func(p Patch) bool { return slices.Contains(other.Patches, p.Name()) }) {
			before = append(before, other)
		}
	}
	return before
}

// With is the series of the group's patches and of all that they need, and no others.
func (s Series) With(g Group) Series {
	wanted := map[string]bool{}
	for _, name := range g.Patches {
		wanted[name] = true
	}
	return s.closed(wanted)
}

// UpTo is the series of the first groups and of what they need, and of the patches that exist
// only to build.
func (s Series) UpTo(groups int) Series {
	wanted := map[string]bool{}
	for _, g := range s.Groups[:groups] {
		for _, name := range g.Patches {
			wanted[name] = true
		}
	}
	for _, p := range s.Patches {
		if p.Status == Drop {
			wanted[p.Name()] = true
		}
	}
	return s.closed(wanted)
}

// closed is the series of the patches that are wanted and of those that they need.
func (s Series) closed(wanted map[string]bool) Series {
	// What a patch needs comes before it.
	for _, p := range slices.Backward(s.Patches) {
		if !wanted[p.Name()] {
			continue
		}
		for _, name := range p.Needs {
			wanted[name] = true
		}
	}
	with := s
	with.Patches = slices.DeleteFunc(slices.Clone(s.Patches), func(p Patch) bool { return !wanted[p.Name()] })
	return with
}

func (s Series) patch(name string) (Patch, bool) {
	i := slices.IndexFunc(s.Patches, func(p Patch) bool { return p.Name() == name })
	if i < 0 {
		return Patch{}, false
	}
	return s.Patches[i], true
}

// validateGroups returns what is wrong with needs and groups: every patch for
// upstream is in one group, and a group is no mixture.
func (s Series) validateGroups() error {
	var errs []error
	place := map[string]int{}
	for i, p := range s.Patches {
		for _, need := range p.Needs {
			if _, before := place[need]; !before {
				errs = append(errs, fmt.Errorf("%s: needs %s, which is no patch before it", p.Name(), need))
			}
		}
		place[p.Name()] = i
	}
	if len(s.Groups) == 0 {
		return errors.Join(errs...)
	}
	in := map[string]string{}
	for _, g := range s.Groups {
		fail := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("group %s: %w", g.Name, fmt.Errorf(format, args...)))
		}
		if !slugForm.MatchString(g.Name) || g.Title == "" || len(g.Patches) == 0 {
			fail("want a name of lower-case words joined by hyphens, a title and patches")
			continue
		}
		last := -1
		for _, name := range g.Patches {
			p, ok := s.patch(name)
			switch {
			case !ok:
				fail("patch %s is not in the series", name)
			case p.Module != g.Module(s):
				fail("patch %s is of another module than %s", name, g.Patches[0])
			case in[name] != "":
				fail("patch %s is in group %s", name, in[name])
			case place[name] < last:
				fail("patch %s comes before the one above it in the series", name)
			}
			in[name], last = g.Name, place[name]
		}
	}
	for _, p := range s.Patches {
		if p.ForUpstream() && in[p.Name()] == "" {
			errs = append(errs, fmt.Errorf("%s: is in no group", p.Name()))
		}
	}
	return errors.Join(append(errs, s.validateCore())...)
}
