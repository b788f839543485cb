// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Check returns all that is not where the names of the patches say, each with
// the file or folder that it is about. repo is the root of the repository.
func Check(series edit.Series, repo fs.FS) error {
	var errs []error
	for _, m := range series.Modules {
		files, err := parse(repo, path.Join("patches", m.Name))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		of := map[string]edit.Patch{} // by source
		folders := map[string]bool{}
		for _, p := range series.Patches {
			if p.Module == m.Name {
				of[p.Source()], folders[p.Folder()] = p, true
			}
		}
		for _, f := range files.all {
			errs = append(errs, f.check(of))
			delete(of, f.path)
		}
		for _, p := range series.Patches {
			if _, missing := of[p.Source()]; missing && p.Module == m.Name {
				errs = append(errs, fmt.Errorf("%s: no such file: patch %s is to be declared there", p.Source(), p.Name()))
			}
		}
		errs = append(errs, files.taken()...)
		errs = append(errs, orphans(repo, edit.Folders(m.Name), folders))
	}
	return errors.Join(errs...)
}

// check compares what a file declares with the patch of that file's name.
func (f file) check(of map[string]edit.Patch) error {
	p, named := of[f.path]
	if !named && len(f.patches) == 0 {
		return nil // such as places.go
	}
	if len(f.patches) != 1 {
		return fmt.Errorf("%s: declares %d patches, want one", f.path, len(f.patches))
	}
	is := f.patches[0]
	want := edit.Patch{Module: path.Base(path.Dir(f.path)), Slug: is.slug}
	switch {
	case is.module != want.Module:
		return fmt.Errorf("%s: patch %q is of module %q: want that of its folder", f.path, is.slug, is.module)
	case want.Source() != f.path:
		return fmt.Errorf("%s: declares patch %s: want it in %s", f.path, want.Name(), want.Source())
	case is.value != want.Value():
		return fmt.Errorf("%s: declares patch %s as %s: want %s", f.path, want.Name(), is.value, want.Value())
	case !named || p.Slug != is.slug:
		return fmt.Errorf("%s: patch %s is not in the series", f.path, want.Name())
	}
	return nil
}

// orphans names what is below files/ and in no folder of a patch: it would look
// like part of the product and be none.
func orphans(repo fs.FS, root string, folders map[string]bool) error {
	entries, err := fs.ReadDir(repo, root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no patch of the module brings files
	}
	errs := []error{err}
	for _, e := range entries {
		if name := path.Join(root, e.Name()); !folders[name] || !e.IsDir() {
			errs = append(errs, fmt.Errorf("%s: no patch of the series has this folder", name))
		}
	}
	return errors.Join(errs...)
}
