// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"fmt"
	"go/ast"
	"go/parser"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The edits of an archive are written like those of a patch, so that archives show how the
// package is used: calls of these functions, and of the methods of their results.
var funcs = map[string]any{
	"In": In, "Func": Func, "Method": Method, "Type": Type, "Const": Const, "Var": Var,
	"Stmt": Stmt, "Expr": Expr, "Field": Field, "Key": Key, "Top": Top,
	"Call": Call, "Mentions": Mentions, "Assign": Assign, "Define": Define, "Declare": Declare, "If": If, "Range": Range,
	"Return": Return, "Defer": Defer, "Has": Has, "All": All,
	"AddImport": AddImport, "DropImport": DropImport, "DropFile": DropFile,
	"InSection": func(path, heading, mentions string) Paragraph {
		return InSection(path, heading, strings.Fields(mentions)...)
	},
	"ProtoComment": ProtoComment, "ProtoField": ProtoField, "ProtoMessage": ProtoMessage,
	"GoMod": GoMod, "Require": Require, "Substitute": Substitute, "Language": Language, "GoSum": GoSum,
	"Package":       func(from, to string) Package { return Package{From: from, To: to} },
	"PackageExcept": func(from, to, except string) Package { return Package{From: from, To: to, Except: []string{except}} },
	"PackageOnly":   func(from, to, only string) Package { return Package{From: from, To: to, Only: []string{only}} },
}

// readPatch makes a patch of a list of expressions.
func readPatch(t *testing.T, script string) Patch {
	expr, err := parser.ParseExpr("func() {\n" + script + "}")
	require.NoError(t, err, "edit")
	p := Patch{Slug: "the-patch", Module: "app", In: "patches/app"}
	for _, s := range expr.(*ast.FuncLit).Body.List {
		v, err := eval(s.(*ast.ExprStmt).X)
		require.NoError(t, err)
		switch v := v.Interface().(type) {
		case Edit:
			p.Edits = append(p.Edits, v)
		case Package:
			p.Packages = append(p.Packages, v)
		default:
			require.Failf(t, "no edit", "%T", v)
		}
	}
	return p
}

func eval(e ast.Expr) (reflect.Value, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if n, err := strconv.Atoi(e.Value); err == nil {
			return reflect.ValueOf(n), nil
		}
		s, err := strconv.Unquote(e.Value)
		return reflect.ValueOf(s), err
	case *ast.Ident:
		if f, ok := funcs[e.Name]; ok {
			return reflect.ValueOf(f), nil
		}
	case *ast.SelectorExpr:
		x, err := eval(e.X)
		if err != nil {
			return x, err
		}
		if m := x.MethodByName(e.Sel.Name); m.IsValid() {
			return m, nil
		}
	case *ast.CallExpr:
		f, err := eval(e.Fun)
		if err != nil {
			return f, err
		}
		var args []reflect.Value
		for _, a := range e.Args {
			v, err := eval(a)
			if err != nil {
				return v, err
			}
			args = append(args, v)
		}
		return f.Call(args)[0], nil
	}
	return reflect.Value{}, fmt.Errorf("cannot read %T %v", e, e)
}
