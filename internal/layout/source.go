// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// sources are the Go files of a module's folder, without tests.
type sources struct {
	fset *token.FileSet
	all  []file
}

type file struct {
	path    string
	syntax  *ast.File
	patches []declared
}

// declared is a patch as its file gives it.
type declared struct{ value, module, slug string }

func parse(repo fs.FS, folder string) (sources, error) {
	s := sources{fset: token.NewFileSet()}
	names, err := fs.Glob(repo, path.Join(folder, "*.go"))
	if err != nil {
		return s, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := fs.ReadFile(repo, name)
		if err != nil {
			return s, err
		}
		syntax, err := parser.ParseFile(s.fset, name, content, parser.SkipObjectResolution)
		if err != nil {
			return s, err
		}
		s.all = append(s.all, file{name, syntax, patches(syntax)})
	}
	return s, nil
}

// patches returns the variables of a file that are given a patch.
func patches(f *ast.File) []declared {
	var all []declared
	for _, top := range f.Decls {
		gen, ok := top.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, spec := range gen.Specs {
			v := spec.(*ast.ValueSpec)
			for i, value := range v.Values {
				lit, ok := value.(*ast.CompositeLit)
				if !ok || !isPatch(lit) {
					continue
				}
				all = append(all, declared{v.Names[i].Name, text(lit, "Module"), text(lit, "Slug")})
			}
		}
	}
	return all
}

func isPatch(lit *ast.CompositeLit) bool {
	of, ok := lit.Type.(*ast.SelectorExpr)
	return ok && of.Sel.Name == "Patch"
}

// text returns the string that a literal gives a field, "" if it gives none.
func text(lit *ast.CompositeLit, field string) string {
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

// taken names what files use out of the file of a patch. That file could not be
// dropped alone.
func (s sources) taken() []error {
	ofPatch := map[string]bool{}
	var parsed []*ast.File
	for _, f := range s.all {
		ofPatch[f.path] = len(f.patches) > 0
		parsed = append(parsed, f.syntax)
	}
	// Nothing is imported, so that most does not resolve; what the folder
	// declares does.
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Error: func(error) {}}
	_, _ = conf.Check("patches", s.fset, parsed, info)

	type use struct{ by, name, from string }
	uses := map[use]bool{}
	for id, obj := range info.Uses {
		by, from := s.fset.Position(id.Pos()).Filename, s.fset.Position(obj.Pos()).Filename
		if from != by && ofPatch[from] {
			uses[use{by, id.Name, from}] = true
		}
	}
	var errs []error
	for u := range uses {
		errs = append(errs, fmt.Errorf("%s: uses %s out of %s: what several patches use belongs in %s",
			u.by, u.name, u.from, path.Join(path.Dir(u.by), "places.go")))
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errs
}
