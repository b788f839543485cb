// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// part is a file of a pull request.
type part struct {
	needed bool
	check  func(content []byte) error
}

// InPlace returns an error for each text and patch that is not where the series has it. It also
// returns one for each file below patches that the series does not use: such a file looks like a
// part of the product, but is none. repo is the root of the repository.
func (s Series) InPlace(repo fs.FS) error {
	parts, brought := map[string]part{}, map[string]bool{}
	for _, p := range s.Patches {
		parts[path.Join(p.In, "group.go")] = part{needed: true, check: anything}
		parts[path.Join(p.In, "pull.md")] = part{check: anything}
		parts[p.source()] = part{needed: true, check: p.declaredAlone}
		brought[p.folder()] = true
	}
	for _, g := range s.Groups {
		parts[g.Page()] = part{needed: true, check: hasTitle}
	}
	found, errs := find(parts, brought, repo)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		switch p := parts[name]; {
		case found[name]:
			content, err := fs.ReadFile(repo, name)
			if err = cmp.Or(err, p.check(content)); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		case p.needed:
			errs = append(errs, fmt.Errorf("%s: missing: the series needs this file", name))
		}
	}
	return errors.Join(errs...)
}

// find looks for parts, and returns an error for each other file. Files in a folder that a patch
// brings are for upstream; files below patches/places and in patches itself belong to no pull
// request.
func find(parts map[string]part, brought map[string]bool, repo fs.FS) (found map[string]bool, errs []error) {
	found = map[string]bool{}
	err := fs.WalkDir(repo, "patches", func(name string, d fs.DirEntry, err error) error {
		switch _, known := parts[name]; {
		case err != nil:
			return err
		case d.IsDir() && (brought[name] || name == "patches/places"):
			return fs.SkipDir
		case d.IsDir() || path.Dir(name) == "patches":
		case known:
			found[name] = true
		default:
			errs = append(errs, fmt.Errorf("%s: no patch has it: list it in group.go, and its pull request in patches/series.go", name))
		}
		return nil
	})
	if err != nil {
		errs = append(errs, err)
	}
	return found, errs
}

func anything([]byte) error { return nil }

func hasTitle(page []byte) error {
	_, err := titleOf(page)
	return err
}

// declaredAlone returns an error unless a source declares the patch, and no other.
func (p Patch) declaredAlone(source []byte) error {
	f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var slugs []string
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && isPatch(lit) {
			slugs = append(slugs, stringOf(lit, "Slug"))
		}
		return true
	})
	if len(slugs) != 1 || slugs[0] != p.Slug {
		return fmt.Errorf("declares the patches %q, want %q alone", strings.Join(slugs, ", "), p.Slug)
	}
	return nil
}

func isPatch(lit *ast.CompositeLit) bool {
	of, ok := lit.Type.(*ast.SelectorExpr)
	return ok && of.Sel.Name == "Patch"
}

// stringOf returns the string that a literal gives a field, "" if it gives none.
func stringOf(lit *ast.CompositeLit, field string) string {
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, named := kv.Key.(*ast.Ident)
		value, literal := kv.Value.(*ast.BasicLit)
		if named && literal && key.Name == field {
			s, _ := strconv.Unquote(value.Value)
			return s
		}
	}
	return ""
}
