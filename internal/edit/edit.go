// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"errors"
	"fmt"
)

// Edit is one change of one file of an upstream module.
type Edit struct {
	path   string
	decl   string // the declaration it is in, for errors; "" at file level
	change func(*source) ([]splice, error)
	mod    func([]byte) ([]byte, error) // in place of change, for a file that is not Go source
	remove bool                         // in place of change, for a whole file
	err    error                        // why it cannot be made at all

	below, since string // the versions of the module that it is for; all if empty
}

// Path returns the file that the edit changes, below the module's root.
func (e Edit) Path() string { return e.path }

// Apply returns src, the content of the file, with the change made, or nil if the change removes
// the file. It depends only on src. The result parses. Only a whole patch is checked for being
// gofmt-clean.
func (e Edit) Apply(src []byte) ([]byte, error) {
	out, _, err := e.apply(src, nil)
	return out, err
}

// apply is Apply with the parsed form of src, if it exists, and returns that of the result, for
// the next edit of the patch.
func (e Edit) apply(src []byte, parsed *source) ([]byte, *source, error) {
	if e.err != nil {
		return nil, nil, e.locate(e.err)
	}
	if e.remove {
		return nil, nil, nil
	}
	if e.mod != nil {
		out, err := e.mod(src)
		if err == nil && bytes.Equal(out, src) {
			err = errNoChange
		}
		if err != nil {
			return nil, nil, e.locate(err)
		}
		return out, nil, nil
	}
	if e.change == nil {
		return nil, nil, errors.New("edit without an operation")
	}
	if parsed == nil {
		var err error
		if parsed, err = parse(e.path, src); err != nil {
			return nil, nil, e.locate(fmt.Errorf("source before the edit: %w", err))
		}
	}
	changes, err := e.change(parsed)
	if err != nil {
		return nil, nil, e.locate(err)
	}
	out, err := parsed.splice(changes)
	if err == nil && bytes.Equal(out, src) {
		err = errNoChange
	}
	if err != nil {
		return nil, nil, e.locate(err)
	}
	if parsed, err = parse(e.path, out); err != nil {
		return nil, nil, e.locate(fmt.Errorf("source after the edit: %w", err))
	}
	return out, parsed, nil
}

// errNoChange rejects a patch that changes nothing, such as one that upstream has merged.
var errNoChange = errors.New("changes nothing")

func (e Edit) locate(err error) error {
	if e.decl != "" {
		err = fmt.Errorf("%s: %w", e.decl, err)
	}
	return fmt.Errorf("%s: %w", e.path, err)
}

// Scope is a declaration of a file, in which places are looked for.
type Scope struct {
	path string
	decl Decl
}

// In returns the scope of a declaration of the file at path, which is below
// the root of the upstream module. The file must declare it exactly once.
func In(path string, d Decl) Scope { return Scope{path, d} }

// edit makes an edit of the scope's declaration. errs are the errors of its arguments.
func (sc Scope) edit(change func(*decl) ([]splice, error), errs ...error) Edit {
	return Edit{path: sc.path, decl: sc.decl.String(), err: errors.Join(errs...), change: func(s *source) ([]splice, error) {
		d, err := s.find(sc.decl)
		if err != nil {
			return nil, err
		}
		return change(d)
	}}
}

// each makes an edit of each place that the anchor matches.
func (sc Scope) each(a Anchor, change func(target) (splice, error)) Edit {
	return sc.edit(func(d *decl) ([]splice, error) {
		targets, err := d.targets(a)
		if err != nil {
			return nil, err
		}
		var out []splice
		for _, t := range targets {
			c, err := change(t)
			if err != nil {
				return nil, a.locate(err)
			}
			out = append(out, c)
		}
		return out, nil
	}, a.err)
}
