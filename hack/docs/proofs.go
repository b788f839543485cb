// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
)

// A proof is a test, which may have a rule in its name, TestL3_EveryEndIsDelivered, or a case of the
// conformance test, which its profile declares: Teardown.has("L3_EveryEndIsDelivered", ...).
type proof struct {
	rule string // may be empty
	name string
	file string // below the root of the repository, with slashes
}

// about names the test and its file.
func (p proof) about() string { return p.name + " of " + p.file }

var test = regexp.MustCompile(`^(?:Test|Fuzz|Example)(?:([A-Z]+[0-9]+)_)?`)

// findProofs finds all tests below root, in the order of their files. It skips what the go command
// skips: testdata, and folders that begin with a dot or an underscore.
func findProofs(root string) ([]proof, error) {
	var proofs []proof
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, "_test.go") && !isCase(name) {
			return nil
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		found, err := proofsIn(name, content)
		proofs = append(proofs, found...)
		return err
	})
	return proofs, err
}

func proofsIn(name string, source []byte) ([]proof, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if isCase(name) {
		return casesIn(file, name), nil
	}
	var proofs []proof
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil {
			continue
		}
		if m := test.FindStringSubmatch(f.Name.Name); m != nil {
			proofs = append(proofs, proof{rule: m[1], name: f.Name.Name, file: name})
		}
	}
	return proofs, nil
}

// isCase reports whether a file may declare cases.
func isCase(name string) bool {
	folder, file := path.Split(name)
	return path.Base(folder) == "cases" && strings.HasSuffix(file, ".go")
}

var ruleCase = regexp.MustCompile(`^([A-Z]+[0-9]+)_`)

// casesIn returns the cases that a file declares.
func casesIn(file *ast.File, name string) (proofs []proof) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || method.Sel.Name != "has" {
			return true
		}
		text, ok := call.Args[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		if m := ruleCase.FindStringSubmatch(strings.Trim(text.Value, `"`)); m != nil {
			proofs = append(proofs, proof{rule: m[1], name: strings.Trim(text.Value, `"`), file: name})
		}
		return false
	})
	return proofs
}
