// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"fmt"
	"testing/fstest"

	"github.com/hookline-nri/hookline/internal/edit"
)

const store = `package store

func (s *Store) Close() error {
	for _, f := range s.files {
		// The first error counts.
		if err := f.Close(); err != nil {
			return err
		}
	}
	s.files = nil
	return nil
}
`

// The example of the package's documentation.
func Example() {
	closing := edit.In("pkg/store/store.go", edit.Method("Store", "Close"))
	patch := edit.Patch{
		Slug:   "close-all",
		Module: "app",
		Edits: []edit.Edit{
			closing.Before(edit.Top(), "var errs []error"),
			closing.Replace(edit.Stmt(edit.If("err != nil")).Within(edit.Range("s.files")),
				"errs = append(errs, f.Close())"),
			closing.Replace(edit.Stmt(edit.Return("nil")), "return errors.Join(errs...)"),
			edit.AddImport("pkg/store/store.go", "errors"),
		},
	}
	upstream := fstest.MapFS{"pkg/store/store.go": {Data: []byte(store)}}
	files, err := patch.Apply(edit.Series{}, upstream, nil)
	fmt.Printf("%v\n%s", err, files["pkg/store/store.go"])

	upstream["pkg/store/store.go"] = &fstest.MapFile{Data: []byte("package store\n\nfunc (s *Store) Close() error {\n\treturn nil\n}\n")}
	_, err = patch.Apply(edit.Series{}, upstream, nil)
	fmt.Println(err)

	// Output:
	// <nil>
	// package store
	//
	// import "errors"
	//
	// func (s *Store) Close() error {
	// 	var errs []error
	// 	for _, f := range s.files {
	// 		errs = append(errs, f.Close())
	// 	}
	// 	s.files = nil
	// 	return errors.Join(errs...)
	// }
	// app/close-all: pkg/store/store.go: method Close: anchor "if err != nil within range s.files": 0 matches, want 1
}
