// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
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

// Require makes version the one that mod is required in, whether or not it was
// required before.
func Require(mod, version string) ModEdit { return requiring(mod, version, false) }

// Indirect is Require for a module that no package of this one imports: it comes with
// another module.
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

// Language makes version the Go that the module needs, in its go line.
func Language(version string) ModEdit {
	return ModEdit{"go " + version, func(f *modfile.File) error { return f.AddGoStmt(version) }}
}

// Substitute replaces all versions of the module old by another module in
// version, or by a folder (beginning with "./" or "../", version empty).
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

// ReplaceSums makes the given lines of a go.sum file those of their modules: those of other
// versions go.
func ReplaceSums(path string, lines ...string) Edit {
	return document(path, "checksums", func(doc string) (string, error) {
		named := map[string]bool{}
		for _, line := range lines {
			f := strings.Fields(line)
			if len(f) != 3 || !strings.HasPrefix(f[2], "h1:") {
				return "", fmt.Errorf("%q is not a module, a version and a checksum", line)
			}
			named[f[0]] = true
		}
		kept := slices.Clone(lines)
		for line := range strings.Lines(doc) {
			if mod, _, _ := strings.Cut(line, " "); !named[mod] {
				kept = append(kept, strings.TrimSuffix(line, "\n"))
			}
		}
		slices.SortFunc(kept, compareSums)
		return strings.Join(kept, "\n") + "\n", nil
	})
}

// compareSums orders lines as the go command does: by module, version, and the content
// before its go.mod.
func compareSums(a, b string) int {
	f, g := strings.Fields(a), strings.Fields(b)
	if c := strings.Compare(f[0], g[0]); c != 0 {
		return c
	}
	v, ofMod := strings.CutSuffix(f[1], "/go.mod")
	u, uOfMod := strings.CutSuffix(g[1], "/go.mod")
	if c := semver.Compare(v, u); c != 0 {
		return c
	}
	switch {
	case ofMod == uOfMod:
		return 0
	case uOfMod:
		return -1
	}
	return 1
}
