// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// ModEdit is one change of a go.mod file.
type ModEdit struct {
	name  string
	apply func(*modfile.File) error
}

// GoMod changes the go.mod file at path.
func GoMod(path string, edits ...ModEdit) Edit {
	return Edit{path: path, mod: func(src []byte) ([]byte, error) {
		text, crs := plain(src)
		f, err := modfile.Parse(path, text, nil)
		if err != nil {
			return nil, err
		}
		if out, err := f.Format(); err != nil || !bytes.Equal(out, text) {
			return nil, fmt.Errorf("is not formatted as the go command does before the patch: %w", errors.Join(firstDiff(text, out), err))
		}
		for _, e := range edits {
			if err := e.apply(f); err != nil {
				return nil, fmt.Errorf("%s: %w", e.name, err)
			}
		}
		f.Cleanup()
		out, err := f.Format()
		if err == nil && len(crs) > 0 {
			out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
		}
		return out, err
	}}
}

// Require makes mod required in that version, whether or not it was required before.
func Require(mod, version string) ModEdit { return requiring(mod, version, false) }

// Indirect is Require for a module that only another required module imports.
func Indirect(mod, version string) ModEdit { return requiring(mod, version, true) }

func requiring(mod, version string, indirect bool) ModEdit {
	return ModEdit{"require " + mod, func(f *modfile.File) error {
		if err := module.Check(mod, version); err != nil {
			return err
		}
		all := f.Require
		for _, r := range all {
			if r.Mod.Path == mod {
				return f.AddRequire(mod, version)
			}
		}
		// This puts it with the direct ones, AddRequire with the last block.
		f.SetRequireSeparateIndirect(append(all[:len(all):len(all)], &modfile.Require{Mod: module.Version{Path: mod, Version: version}, Indirect: indirect}))
		return nil
	}}
}

// Language sets the version of Go that the module needs, in its go line.
func Language(version string) ModEdit {
	return ModEdit{"go " + version, func(f *modfile.File) error { return f.AddGoStmt(version) }}
}

// Substitute replaces all versions of the module old by a version of another module, or by a
// folder (beginning with "./" or "../", version empty).
func Substitute(old, newPathOrDir, version string) ModEdit {
	return ModEdit{"replace " + old, func(f *modfile.File) error {
		err := module.CheckPath(old)
		switch {
		case err != nil:
		case strings.HasPrefix(newPathOrDir, "./") || strings.HasPrefix(newPathOrDir, "../"):
			if version != "" {
				err = fmt.Errorf("folder %s cannot have a version", newPathOrDir)
			}
		default:
			err = module.Check(newPathOrDir, version)
		}
		if err != nil {
			return err
		}
		return f.AddReplace(old, "", newPathOrDir, version)
	}}
}
