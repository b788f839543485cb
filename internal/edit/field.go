// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"go/ast"
)

// AddField puts text at the end of a struct's fields or an interface's methods.
func (sc Scope) AddField(text string) Edit {
	return sc.edit(func(d *decl) ([]splice, error) {
		list, err := d.fieldList()
		if err != nil {
			return nil, err
		}
		s := d.src
		braces := span{s.offset(list.Opening), s.offset(list.Closing)}
		p := s.bottom(braces)
		c, err := p.put(text)
		if err != nil {
			return nil, err
		}
		changes := []splice{c}
		if p.lo == braces.lo+1 && !isSpace(s.text[braces.lo-1]) {
			// gofmt wants "struct {" where lines follow.
			changes = append(changes, insert(braces.lo, " "))
		}
		return changes, nil
	})
}

func (d *decl) fieldList() (*ast.FieldList, error) {
	if spec, ok := d.spec.(*ast.TypeSpec); ok {
		switch t := spec.Type.(type) {
		case *ast.StructType:
			return t.Fields, nil
		case *ast.InterfaceType:
			return t.Methods, nil
		}
	}
	return nil, errors.New("is not a struct or interface")
}
