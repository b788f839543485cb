// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// file is a whole new file: from is its path below the root of this
// repository, to below the root of the upstream module.
type file struct {
	from, to string
}

// bring returns the patch's new files and those of its packages.
func (p Patch) bring(s Series, upstream, own fs.FS) (map[string][]byte, error) {
	out := map[string][]byte{}
	files, err := p.files(own)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", p.folder(), err)
	}
	if len(files) == 0 && len(p.Packages) == 0 {
		return out, nil
	}
	paths, self, err := p.importPaths(s, own)
	if err != nil {
		return nil, err
	}
	for _, pkg := range p.Packages {
		of, err := pkg.files(own)
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", pkg.From, err)
		}
		files = append(files, of...)
	}
	for _, f := range files {
		content, err := fs.ReadFile(own, f.from)
		if err != nil {
			return nil, fmt.Errorf("file %s: %w", f.from, withoutPath(err))
		}
		if _, err := fs.Stat(upstream, f.to); err == nil || out[f.to] != nil {
			return nil, fmt.Errorf("file %s: %s exists", f.from, f.to)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("file %s: %w", f.from, err)
		}
		if strings.HasSuffix(f.from, ".go") && !inTestdata(f.from) {
			if content, err = settle(content, self, paths); err != nil {
				return nil, fmt.Errorf("file %s: %w", f.from, err)
			}
		}
		out[f.to] = content
	}
	return out, nil
}

// files returns the files of the patch's folder, if there is one.
func (p Patch) files(own fs.FS) ([]file, error) {
	if own == nil {
		return nil, nil
	}
	var files []file
	err := fs.WalkDir(own, p.folder(), func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return withoutPath(err)
		}
		if !e.IsDir() {
			files = append(files, file{from: name, to: strings.TrimPrefix(name, p.folder()+"/")})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}

// files returns the files of a package: those of its folder that match Only, if it is set, and
// its testdata. Files and folders that match Except are left out. Other folders are packages of
// their own.
func (pkg Package) files(own fs.FS) ([]file, error) {
	var files []file
	err := fs.WalkDir(own, pkg.From, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return withoutPath(err)
		case pkg.excepted(strings.TrimPrefix(name, pkg.From+"/")):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !e.IsDir() && !pkg.wanted(strings.TrimPrefix(name, pkg.From+"/")):
			return nil
		case !e.IsDir():
			files = append(files, file{name, path.Join(pkg.To, strings.TrimPrefix(name, pkg.From))})
		case name != pkg.From && !inTestdata(strings.TrimPrefix(name, pkg.From)):
			return fs.SkipDir
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errors.New("no files")
	}
	return files, err
}

func (pkg Package) excepted(name string) bool { return matches(pkg.Except, name) }

func (pkg Package) wanted(name string) bool { return len(pkg.Only) == 0 || matches(pkg.Only, name) }

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matches, _ := path.Match(pattern, name) // Validate rejects malformed ones
		return matches
	})
}

func inTestdata(name string) bool {
	return slices.Contains(strings.Split(name, "/"), "testdata")
}

// importPaths maps the import paths of packages in this repository to those under which p's
// module can import them, and returns the path that they all begin with. The modules that p's
// module uses come before it and have all their packages. p's own module has the packages that
// p and earlier patches bring, and these are preferred.
func (p Patch) importPaths(s Series, own fs.FS) (paths map[string]string, self string, err error) {
	mod, err := fs.ReadFile(own, "go.mod")
	if err != nil {
		return nil, "", err
	}
	if self = modfile.ModulePath(mod); self == "" {
		return nil, "", errors.New("own go.mod: no module path")
	}
	paths = map[string]string{}
	for _, m := range s.Modules {
		for _, by := range s.Patches {
			for _, pkg := range by.Packages {
				if by.Module == m.Name {
					paths[path.Join(self, pkg.From)] = path.Join(m.Path, pkg.To)
				}
			}
			if m.Name == p.Module && by.Name() == p.Name() {
				break
			}
		}
		if m.Name == p.Module {
			return paths, self, nil
		}
	}
	return nil, "", fmt.Errorf("no module %q in the series", p.Module)
}

// withoutPath removes the path that an error of a file system repeats.
func withoutPath(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
