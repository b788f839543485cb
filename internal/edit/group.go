// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
)

// Group is one pull request: patches of one module, in their order, on top of the patches
// that they need. Its folder has its text, its patches and the files that they bring.
type Group struct {
	Folder  string // below the root of this repository
	Core    bool   // it needs no group, or only groups of the core
	Patches []Patch
}

// Name of the group, its folder and its branch.
func (g Group) Name() string { return path.Base(g.Folder) }

// Page is the path of the text of the pull request.
func (g Group) Page() string { return path.Join(g.Folder, "pull.md") }

// titleForm is the first line of a page: "# nri: deliver teardown to every plugin".
var titleForm = regexp.MustCompile(`^# ([a-z0-9][a-z0-9,./_-]*: .*[^.\s])\n`)

// Title of the pull request: the heading of its page, below the root of the repository.
func (g Group) Title(repo fs.FS) (string, error) {
	page, err := fs.ReadFile(repo, g.Page())
	if err != nil {
		return "", err
	}
	title, err := titleOf(page)
	if err != nil {
		return "", fmt.Errorf("%s: %w", g.Page(), err)
	}
	return title, nil
}

func titleOf(page []byte) (string, error) {
	found := titleForm.FindSubmatch(page)
	if found == nil {
		return "", errors.New(`want a first line "# area: title" without a final dot`)
	}
	return string(found[1]), nil
}

// Module is the short name of the module that the group is for.
func (g Group) Module() string { return g.Patches[0].Module }

// Has reports whether the patch is one of the group.
func (g Group) Has(p Patch) bool {
	return slices.ContainsFunc(g.Patches, func(own Patch) bool { return own.Name() == p.Name() })
}

// Assemble returns the series of the groups. The patches of build exist only to build: they come
// first, and are no pull request.
func Assemble(modules []Module, build Group, groups ...Group) Series {
	s := Series{Modules: modules, Patches: build.placed().Patches}
	for _, g := range groups {
		g = g.placed()
		s.Groups, s.Patches = append(s.Groups, g), append(s.Patches, g.Patches...)
	}
	return s
}

// placed returns the group with its folder set in its patches.
func (g Group) placed() Group {
	g.Patches = slices.Clone(g.Patches)
	for i := range g.Patches {
		g.Patches[i].In = g.Folder
	}
	return g
}

// Group returns the group of that name.
func (s Series) Group(name string) (Group, error) {
	for _, g := range s.Groups {
		if g.Name() == name {
			return g, nil
		}
	}
	return Group{}, fmt.Errorf("the series has no group %q: see docs/upstreaming.md", name)
}

// Needs lists the groups that must be merged before this one, in the order of the series' groups:
// those of the patches that its own need, directly or not.
func (s Series) Needs(g Group) []Group {
	var before []Group
	with := s.With(g)
	for _, other := range s.Groups {
		if other.Name() != g.Name() && slices.ContainsFunc(with.Patches, other.Has) {
			before = append(before, other)
		}
	}
	return before
}

// With returns the series of the group's patches and of all patches that they need.
func (s Series) With(g Group) Series {
	wanted := map[string]bool{}
	mark(wanted, g.Patches)
	return s.closed(wanted)
}

// UpTo returns the series of the first groups, of the patches that they need, and of the patches
// that exist only to build.
func (s Series) UpTo(groups int) Series {
	wanted := map[string]bool{}
	mark(wanted, s.building())
	for _, g := range s.Groups[:groups] {
		mark(wanted, g.Patches)
	}
	return s.closed(wanted)
}

// building returns the patches that exist only to build.
func (s Series) building() (only []Patch) {
	for _, p := range s.Patches {
		if p.Status == Drop {
			only = append(only, p)
		}
	}
	return only
}

// mark adds the names of patches.
func mark(names map[string]bool, patches []Patch) {
	for _, p := range patches {
		names[p.Name()] = true
	}
}

// closed returns the series of the wanted patches and of the patches that they need.
func (s Series) closed(wanted map[string]bool) Series {
	// The patches that a patch needs come before it.
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

// validateGroups returns the errors in needs and groups: every patch for upstream must be in one
// group, and all patches of a group must be of one module.
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
	in, named := map[string]string{}, map[string]bool{}
	for _, g := range s.Groups {
		if named[g.Name()] {
			errs = append(errs, fmt.Errorf("group %s: another group has that name", g.Folder))
		}
		named[g.Name()] = true
		if !slugForm.MatchString(g.Name()) || len(g.Patches) == 0 {
			errs = append(errs, fmt.Errorf("group %s: want a folder named with lower-case words joined by hyphens, and patches", g.Folder))
			continue
		}
		for _, p := range g.Patches {
			if p.Module != g.Module() {
				errs = append(errs, fmt.Errorf("group %s: patch %s is of another module than %s", g.Name(), p.Name(), g.Patches[0].Name()))
			}
			if _, there := place[p.Name()]; !there {
				errs = append(errs, fmt.Errorf("group %s: patch %s is not in the series", g.Name(), p.Name()))
			}
			if in[p.Name()] != "" {
				errs = append(errs, fmt.Errorf("group %s: patch %s is in group %s", g.Name(), p.Name(), in[p.Name()]))
			}
			in[p.Name()] = g.Name()
		}
	}
	for _, p := range s.Patches {
		if p.ForUpstream() && in[p.Name()] == "" {
			errs = append(errs, fmt.Errorf("%s: is in no group", p.Name()))
		}
	}
	return errors.Join(append(errs, s.validateCore())...)
}
