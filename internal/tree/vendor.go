// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"go/parser"
	"go/token"
	"maps"
	"strconv"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// revendor reports whether the last commit of a clone of module needs another vendor folder: with
// other modules, or other packages of them.
func revendor(module string, git func(...string) (string, error)) (bool, error) {
	names, err := git("diff-tree", "--no-commit-id", "--name-only", "-r", "HEAD")
	if err != nil {
		return false, err
	}
	before, after := map[string]bool{}, map[string]bool{}
	for name := range strings.Lines(names) {
		name = strings.TrimSpace(name)
		if name == "go.mod" || name == "go.sum" {
			return true, nil
		}
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		for rev, set := range map[string]map[string]bool{"HEAD~": before, "HEAD": after} {
			if content, err := git("show", rev+":"+name); err == nil { // it may not exist
				foreign(set, module, content)
			}
		}
	}
	return !maps.Equal(before, after), nil
}

// foreign adds the packages of other modules that a file imports to set.
func foreign(set map[string]bool, module, content string) {
	f, err := parser.ParseFile(token.NewFileSet(), "", content, parser.ImportsOnly)
	if err != nil {
		return
	}
	for _, i := range f.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err == nil && !edit.Standard(name) && !strings.HasPrefix(name+"/", module+"/") {
			set[name] = true
		}
	}
}
