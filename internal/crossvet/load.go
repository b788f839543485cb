// SPDX-License-Identifier: Apache-2.0

package crossvet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Platform is a platform that code is compiled for.
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Module is a tree of source to check.
type Module struct {
	Dir   string   // its root
	Env   []string // of the go command
	Flags []string // build flags
}

// load returns all packages of the module and their imports, for a platform: their files, but
// no types.
func (m Module) load(ctx context.Context, p Platform) ([]*packages.Package, error) {
	all, err := packages.Load(&packages.Config{
		Context:    ctx,
		Mode:       packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
		Dir:        m.Dir,
		Env:        append(slices.Clone(m.Env), "GOOS="+p.OS, "GOARCH="+p.Arch, "CGO_ENABLED=0"),
		BuildFlags: m.Flags,
		Tests:      true,
	}, "./...")
	if err != nil {
		return nil, err
	}
	for _, pkg := range all {
		for _, err := range pkg.Errors {
			if err.Kind != packages.TypeError {
				return nil, fmt.Errorf("%s: %w", pkg.ID, err)
			}
		}
	}
	return all, nil
}

// chosen returns the packages that lie in one of the folders, and the packages that import them.
// A package that has tests in it is returned once, with its tests.
func chosen(all []*packages.Package, folders []string) []*packages.Package {
	in := map[string]bool{}
	for _, pkg := range all {
		if slices.Contains(folders, pkg.Dir) {
			in[pkg.PkgPath] = true
		}
	}
	tested := map[string]bool{}
	for _, pkg := range all {
		tested[pkg.PkgPath] = tested[pkg.PkgPath] || strings.HasSuffix(pkg.ID, ".test]")
	}
	var out []*packages.Package
	for _, pkg := range all {
		switch {
		case len(pkg.GoFiles) == 0 || strings.HasSuffix(pkg.PkgPath, ".test"): // the generated main of tests
		case tested[pkg.PkgPath] && !strings.HasSuffix(pkg.ID, ".test]"):
		case in[pkg.PkgPath] || importsAny(pkg, in):
			out = append(out, pkg)
		}
	}
	return out
}

func importsAny(pkg *packages.Package, paths map[string]bool) bool {
	for _, i := range pkg.Imports {
		if paths[i.PkgPath] {
			return true
		}
	}
	return false
}
