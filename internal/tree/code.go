// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"bytes"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
)

// Code identifies the code of trees: it is the same for trees that differ only in comments,
// documents and tests.
func Code(trees []Tree) (string, error) {
	var parts []string
	for _, t := range trees {
		parts = append(parts, t.Name, t.Version, t.Sum)
		files := t.Files()
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if !isBuilt(name) {
				continue
			}
			code, err := withoutComments(name, files[name])
			if err != nil {
				return "", fmt.Errorf("code of %s: %w", t.Name, err)
			}
			parts = append(parts, name, fate(files[name]), code)
		}
	}
	return key(parts...), nil
}

func isBuilt(name string) bool {
	return !strings.HasSuffix(name, "_test.go") && path.Ext(name) != ".md" && path.Dir(name) != suite &&
		!strings.Contains("/"+name, "/testdata/")
}

// withoutComments returns a Go file, formatted and without comments, except directives of the
// compiler. Any other file is returned as it is.
func withoutComments(name string, content []byte) (string, error) {
	if content == nil || path.Ext(name) != ".go" {
		return string(content), nil
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, content, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	var code bytes.Buffer
	for line := range bytes.Lines(content) {
		if bytes.HasPrefix(line, []byte("//go:")) {
			code.Write(line)
		}
	}
	err = format.Node(&code, files, parsed)
	return code.String(), err
}
