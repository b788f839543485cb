// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Apply returns the files that p changes or adds, by path below the root of its module; a file
// that it removes is nil. upstream is the module's tree with the patches before p. own is the
// root of this repository, where the folder and the packages of p are. s says which patch brings
// which packages, so that imports of them can be rewritten. Edits may also change files that p
// brings. Nothing is written. With an error no file is returned.
func (p Patch) Apply(s Series, upstream, own fs.FS) (map[string][]byte, error) {
	brought, err := p.bring(s, upstream, own)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name(), err)
	}
	w := &work{upstream: upstream, brought: brought, files: map[string]*touched{}}
	for _, e := range p.Edits {
		if err := w.apply(e); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	out := maps.Clone(brought)
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		f := w.files[path]
		if f.removed {
			out[path] = nil
			continue
		}
		content, err := w.formatted(path, f.content)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: is not gofmt-clean after the patch: %w", p.Name(), path, err))
		}
		out[path] = content
	}
	maps.DeleteFunc(out, func(path string, content []byte) bool {
		was, err := fs.ReadFile(upstream, path)
		return err == nil && content != nil && bytes.Equal(was, content) // brought again, unchanged
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %w", p.Name(), errNoChange)
	}
	return out, nil
}

// work is the state of a patch that is being applied.
type work struct {
	upstream fs.FS
	brought  map[string][]byte // by the patch itself
	files    map[string]*touched
}

// touched is a file that edits have changed, and its parsed form.
type touched struct {
	content []byte
	parsed  *source
	removed bool
}

// formatted returns the final form of a changed file. A file that the patch brings is formatted,
// since all of it is new. Any other file must be gofmt-clean.
func (w *work) formatted(path string, content []byte) ([]byte, error) {
	switch _, own := w.brought[path]; {
	case !strings.HasSuffix(path, ".go"):
		return content, nil
	case own:
		return format.Source(content)
	}
	return content, checkFormat(content)
}

func (w *work) apply(e Edit) error {
	f := w.files[e.path]
	if f == nil {
		var err error
		if f, err = w.open(e.path); err != nil {
			return fmt.Errorf("%s: %w", e.path, err)
		}
	}
	if f.removed {
		return fmt.Errorf("%s: was removed by an edit before this one", e.path)
	}
	if e.remove {
		w.files[e.path] = &touched{removed: true}
		return nil
	}
	content, parsed, err := e.apply(f.content, f.parsed)
	if err != nil {
		return err
	}
	w.files[e.path] = &touched{content: content, parsed: parsed}
	return nil
}

// open reads a file that the patch is about to change.
func (w *work) open(path string) (*touched, error) {
	if content, ok := w.brought[path]; ok {
		return &touched{content: content}, nil
	}
	content, err := fs.ReadFile(w.upstream, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("no such file in the module")
	}
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, ".go") {
		if err := checkFormat(content); err != nil {
			return nil, fmt.Errorf("is not gofmt-clean before the patch: %w", err)
		}
	}
	return &touched{content: content}, nil
}
