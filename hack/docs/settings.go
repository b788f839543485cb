// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// A setting is a field of a struct that has a toml tag.
type setting struct {
	name    string            // in TOML
	field   string            // in Go
	doc     string            // its comment
	of      string            // package and struct
	file    string            // module and path
	fellows map[string]string // TOML's name of each field of the struct

	entries string // package and struct of its entries, if it is a table by name
	zero    string // its value in TOML if it is not set
}

func (s setting) about() string { return "setting " + s.name + " of " + s.file }

// settingContent has a table for each section to which the patches add settings.
func settingContent(r Repository) (c content, err error) {
	base, tip, err := touched(r.Modules)
	if err != nil {
		return c, err
	}
	known := map[string]bool{}
	for _, s := range settingsOf(base) {
		known[s.of+"."+s.name] = true
	}
	var added []setting
	for _, s := range settingsOf(tip) {
		if !known[s.of+"."+s.name] {
			added = append(added, s)
		}
	}
	if len(added) == 0 {
		c.text = "None.\n"
		return c, nil
	}
	text, err := r.Defaults()
	if err != nil {
		return c, fmt.Errorf("the default configuration: %w", err)
	}
	standard, err := readDefaults(text)
	if err != nil {
		return c, err
	}
	return settingTables(added, standard)
}

func settingTables(added []setting, standard defaults) (c content, err error) {
	var order []string
	lines := map[string]string{}
	tables := map[string]setting{}
	for _, s := range added {
		if s.entries != "" {
			tables[s.entries] = s
		}
	}
	for _, s := range added {
		section, value, err := standard.ofEntry(s, tables)
		if err != nil {
			return c, err
		}
		if lines[section] == "" {
			order = append(order, section)
		}
		key := code(s.name)
		lines[section] += line(key, code(value), s.explanation())
		c.rows = append(c.rows, row{key: key, about: s.about()})
		if s.doc == "" {
			c.problems = append(c.problems, fmt.Errorf("%s: it has no comment", s.about()))
		}
	}
	for i, section := range order {
		if i > 0 {
			c.text += "\n"
		}
		c.text += "In `[" + section + "]`:\n\n" + line("setting", "default", "meaning") + "|---|---|---|\n" + lines[section]
	}
	return c, nil
}

// settingsOf returns the settings that files declare, in their order.
func settingsOf(files []source) (all []setting) {
	for _, s := range files {
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if structure, ok := spec.Type.(*ast.StructType); ok {
				all = append(all, fieldsOf(s, spec.Name.Name, structure)...)
			}
			return true
		})
	}
	return all
}

func fieldsOf(s source, name string, structure *ast.StructType) (all []setting) {
	fellows := map[string]string{}
	for _, f := range structure.Fields.List {
		toml := tomlName(f)
		if toml == "" || len(f.Names) != 1 {
			continue
		}
		field := f.Names[0].Name
		fellows[field] = toml
		added := setting{
			name: toml, field: field, doc: f.Doc.Text(), fellows: fellows,
			of: path.Dir(s.name) + "." + name, file: s.name, zero: zeroOf(f.Type),
		}
		if table, ok := f.Type.(*ast.MapType); ok {
			added.entries = path.Dir(s.name) + "." + types.ExprString(table.Value)
		}
		all = append(all, added)
	}
	return all
}

// zeroOf returns the TOML of the zero value of a type.
func zeroOf(t ast.Expr) string {
	switch name := types.ExprString(t); {
	case strings.HasPrefix(name, "[]"):
		return "[]"
	case strings.HasSuffix(name, "Duration"):
		return "'0s'"
	case name == "string":
		return "''"
	case name == "bool":
		return "false"
	}
	return "0"
}

// tomlName is the name of a field in TOML, empty if it has none.
func tomlName(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("toml"), ",")
	if name == "-" {
		return ""
	}
	return name
}

var goName = regexp.MustCompile(`\b[A-Z]\w+\b`)

// explanation returns the comment of the field for a reader who knows only TOML: without "Field is",
// and with the TOML names of its fellows.
func (s setting) explanation() string {
	words := strings.Join(strings.Fields(s.doc), " ")
	words = strings.TrimSuffix(strings.TrimPrefix(words, s.field+" is "), ".")
	return goName.ReplaceAllStringFunc(words, func(word string) string {
		if toml, ok := s.fellows[word]; ok {
			return code(toml)
		}
		return word
	})
}
