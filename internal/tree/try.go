// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Fit says whether a patch fits another version of its module.
type Fit struct {
	Patch edit.Patch
	Err   error // nil: it fits
	// Follows are the patches that do not fit and that this one needs: without them it does
	// not fit the pinned version either. Whether it would fit with them is not known.
	Follows []string
}

// Try applies the patches of a module to another version of it. It tries each patch, even after
// one that does not fit. Nothing is written.
func (w *Workspace) Try(ctx context.Context, other Source) ([]Fit, error) {
	own := os.DirFS(w.Root)
	fits, err := try(ctx, w.Series, other, own)
	if err != nil {
		return nil, err
	}
	var pinned *Source
	var misfits []string // of their own
	for i, f := range fits {
		if f.Err == nil {
			continue
		}
		if len(misfits) > 0 {
			if pinned == nil {
				if pinned, err = w.pinnedSource(ctx, other.Name); err != nil {
					return nil, err
				}
			}
			if fits[i].Follows, err = needs(ctx, w.Series, *pinned, own, f.Patch.Name(), misfits); err != nil {
				return nil, err
			}
		}
		if len(fits[i].Follows) == 0 {
			misfits = append(misfits, f.Patch.Name())
		}
	}
	return fits, nil
}

func (w *Workspace) pinnedSource(ctx context.Context, module string) (*Source, error) {
	sources, err := w.sources(ctx)
	for _, s := range sources {
		if s.Name == module {
			return &s, nil
		}
	}
	return nil, err
}

// needs lists the missing patches that a patch needs to fit the version that the series is made
// for.
func needs(ctx context.Context, series edit.Series, s Source, own fs.FS, patch string, missing []string) ([]string, error) {
	var needed []string
	for _, m := range missing {
		fits, err := try(ctx, less(series, m), s, own)
		if err != nil {
			return nil, err
		}
		for _, f := range fits {
			if f.Patch.Name() == patch && f.Err != nil {
				needed = append(needed, m)
			}
		}
	}
	return needed, nil
}

// less returns the series without one patch.
func less(series edit.Series, patch string) edit.Series {
	series.Patches = slices.DeleteFunc(slices.Clone(series.Patches), func(p edit.Patch) bool { return p.Name() == patch })
	return series
}

func try(ctx context.Context, series edit.Series, s Source, own fs.FS) (fits []Fit, err error) {
	err = eachPatch(series, s, own, func(p edit.Patch, _ map[string][]byte, err error) error {
		fits = append(fits, Fit{Patch: p, Err: err})
		return ctx.Err()
	})
	return fits, err
}

// Other finds another version of a module, by its short name or path, or the commit that a clone
// of its repository has checked out.
func (w *Workspace) Other(ctx context.Context, module, version, clone string) (Source, error) {
	for _, m := range w.Series.Modules {
		if m.Name != module && m.Path != module {
			continue
		}
		if clone != "" {
			return w.cloned(ctx, m, clone)
		}
		found, err := w.download(ctx, []Source{{Module: m, Version: version}})
		if err != nil {
			return Source{}, err
		}
		return found[0], nil
	}
	return Source{}, fmt.Errorf("the series has no module %q", module)
}

// With returns a workspace with another version of a module, below this one and under its lock.
// If until is not empty, its series ends before the patch of that name.
func (w *Workspace) With(other Source, until string) *Workspace {
	tried := w.Below(filepath.Join("bump", other.Name+"-"+strings.ReplaceAll(other.Version, "/", "-")))
	tried.other = other
	if i := slices.IndexFunc(w.Series.Patches, func(p edit.Patch) bool { return p.Name() == until }); i >= 0 {
		tried.Series.Patches = w.Series.Patches[:i]
	}
	return tried
}
