// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	slugForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	// Upstream's own commits look like this: "cri,nri: send ...".
	subjectForm = regexp.MustCompile(`^[a-z0-9][a-z0-9,./_-]*: [a-z].*[^.\s]$`)
)

// Validate returns all errors in the values of the series: fields that a patch
// lacks, or whose form cannot be exported. It does not apply the patches.
func (s Series) Validate() error {
	var errs []error
	var modules []string
	for i, m := range s.Modules {
		if m.Name == "" || m.Path == "" {
			errs = append(errs, fmt.Errorf("module %d: name or path missing", i+1))
		}
		if slices.Contains(modules, m.Name) {
			errs = append(errs, fmt.Errorf("module %s: given twice", m.Name))
		}
		modules = append(modules, m.Name)
	}
	seen := map[string]bool{}
	for i, p := range s.Patches {
		name := p.Name()
		if p.Slug == "" || p.Module == "" {
			name = fmt.Sprintf("patch %d", i+1)
		}
		if seen[p.Name()] {
			errs = append(errs, fmt.Errorf("%s: given twice", name))
		}
		seen[p.Name()] = true
		for _, err := range p.validate(modules) {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(append(errs, s.validateGroups())...)
}

func (p Patch) validate(modules []string) []error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	said := func(s string) bool { return strings.TrimSpace(s) != "" }
	want(slugForm.MatchString(p.Slug), "slug %q: want lower-case words joined by hyphens", p.Slug)
	want(slices.Contains(modules, p.Module), "module %q: not in the series", p.Module)
	want(subjectForm.MatchString(p.Subject), `subject %q: want "area: lower-case words" without a final dot`, p.Subject)
	want(len(p.Subject) <= 72, "subject %q: %d bytes, want at most 72", p.Subject, len(p.Subject))
	want(said(p.Body), "body missing: say why before what")
	want(len(p.all())+len(p.Rules) > 0 && !slices.ContainsFunc(slices.Concat(p.all(), p.Rules), func(s string) bool { return !said(s) }),
		"fixes, refs and rules missing: name an upstream thread or a rule of the contract")
	want(said(p.Until), "until missing: say what makes it unnecessary")
	want(slices.Contains([]Status{Upstream, Backport, Hold, Carry, Drop}, p.Status), "status %q: want Upstream, Backport, Hold, Carry or Drop", p.Status)
	want((p.Status == Hold) == said(p.Hold), "status %q with hold %q: a patch on hold, and no other, says there what it waits for", p.Status, p.Hold)
	for i, e := range p.Edits {
		want(fs.ValidPath(e.path) && e.path != ".", "edit %d: path %q: want a path below the module's root", i+1, e.path)
		if err := errors.Join(e.err, e.bounds()); err != nil {
			errs = append(errs, e.locate(err))
		}
	}
	for _, pkg := range p.Packages {
		want(fs.ValidPath(pkg.From) && fs.ValidPath(pkg.To), "%q to %q: want paths below the roots", pkg.From, pkg.To)
		for _, pattern := range slices.Concat(pkg.Only, pkg.Except) {
			_, err := path.Match(pattern, "")
			want(err == nil, "file %q of %q: not a pattern", pattern, pkg.From)
		}
	}
	return errs
}
