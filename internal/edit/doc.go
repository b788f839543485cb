// SPDX-License-Identifier: Apache-2.0

// Package edit makes the changes of patches in Go source. A patch names a place by file,
// declaration and the shape of the code there, with the number of matches to expect. The new
// text is inserted at that position of the syntax tree. Nothing is reprinted, so comments and
// layout stay. The package is a set of functions on bytes: it knows neither git nor the network,
// and writes no file.
//
// # An example
//
// Upstream has, in pkg/store/store.go:
//
//	func (s *Store) Close() error {
//		for _, f := range s.files {
//			// The first error counts.
//			if err := f.Close(); err != nil {
//				return err
//			}
//		}
//		s.files = nil
//		return nil
//	}
//
// The patch that closes all files even if one of them fails:
//
//	closing := edit.In("pkg/store/store.go", edit.Method("Store", "Close"))
//	edits := []edit.Edit{
//		closing.Before(edit.Top(), "var errs []error"),
//		closing.Replace(edit.Stmt(edit.If("err != nil")).Within(edit.Range("s.files")),
//			"errs = append(errs, f.Close())"),
//		closing.Replace(edit.Stmt(edit.Return("nil")), "return errors.Join(errs...)"),
//		edit.AddImport("pkg/store/store.go", "errors"),
//	}
//
// If upstream renames files, the second edit fails, and nothing is changed:
//
//	app/close-all: pkg/store/store.go: method Close: anchor "if err != nil within range s.files": 0 matches, want 1
//
// # Declarations
//
// [In] takes a path and a declaration: [Func], [Method], [Type], [Const] or [Var]. The file must
// declare it once. Files with build tags or for other systems are treated like any other.
//
// # Places
//
//	Stmt(shape)    a statement of that shape, with the comment lines above and the comment behind it
//	Expr(src)      an expression, by its source form
//	Field(name)    a field of a struct or a method of an interface, with its comments
//	Key(name)      an element of a composite literal, with its comments
//	Top()          the start of a function's body
//
//	.And(n)        with the n statements that follow
//	.Within(shape) only below a statement of that shape
//	.Times(n)      n matches, not one; the edit applies to each
//	.As(name)      a name for errors
//
// # Shapes
//
// The shape of a statement comes from its own expressions and headers. Statements in the lists
// below it, bodies of function literals included, have shapes of their own: a call in the body
// of a loop does not count for the loop, except with Has. Expressions are given as written;
// white space, comments and trailing commas do not count.
//
//	Call(fun)                calls fun
//	Mentions(expr)           has the expression in it
//	Assign(x, ...)           assigns to each of them, with = or an operator
//	Define(x, ...)           defines each of them with :=
//	Declare(x)               declares x with var, const or type
//	If(cond), Range(x)       with that condition, over x
//	Return(x, ...)           with exactly these results
//	Defer()                  a deferred call
//	Has(shape), All(shapes...)
//
// # Operations
//
//	Before, After, Replace, Delete    at a place
//	MoveBefore, MoveAfter             a run of statements, to a place in the same declaration
//	Comment, Doc                      the comment above a place, or above the declaration
//	Signature                         of a function
//	AddField                          of a struct or interface
//	Drop, Rename                      the declaration
//	InsertBefore                      new declarations above it
//	AddImport, DropImport             in a file
//	DropFile                          a file
//	GoMod with Require, Indirect, Substitute    in a go.mod file
//	GoSum                             lines of a go.sum file
//	InSection with Replace, After     a paragraph of a document in Markdown
//	ProtoComment                      the comment above a message or field of protobuf
//
// # Text
//
// Text is written without indent, and gets that of its place; lines inside a raw string stay as
// they are. One newline at its start, such as of a raw string that begins on a line of its own,
// and one at its end do not count. More of them are blank lines. In a file with CRLF, inserted
// lines end in CRLF, too.
//
// # Versions upstream
//
// A series may be applied to several versions of a module. If a place differs between them, an
// edit is for some of them only: .Below("v2.4") and .Since("v2.4"). [Series.At] leaves out the
// edits for other versions. An edit may also change a file that its patch brings.
//
// # Whole new files
//
// The folder of a patch below files holds the files that it brings, each
// under the path that it gets in the upstream module. Packages of this
// repository come along as [Package]. Both get upstream's notice, and imports of
// packages that come along are rewritten.
//
// # Errors
//
// Each edit must change something and leave source that parses. A whole patch must leave the
// files that it touches gofmt-clean, as they were before. If a new field changes the alignment
// of its neighbours, the patch must edit these too, or set the field off by a blank line. Files
// that it brings are formatted again. With any error [Patch.Apply] returns no file at all.
package edit
