// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"os"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Fit says whether a patch fits another version of its module.
type Fit struct {
	Patch edit.Patch
	Err   error // nil: it fits
}

// Try applies the patches of a module, by short name or path, to another
// version of it. Each is tried, also after one that does not fit. Nothing is written.
func (w *Workspace) Try(ctx context.Context, module, version string) (Source, []Fit, error) {
	for _, m := range w.Series.Modules {
		if m.Name != module && m.Path != module {
			continue
		}
		found, err := w.download(ctx, []Source{{Module: m, Version: version}})
		if err != nil {
			return Source{}, nil, err
		}
		var fits []Fit
		err = eachPatch(w.Series, found[0], os.DirFS(w.Root), func(p edit.Patch, _ map[string][]byte, err error) error {
			fits = append(fits, Fit{p, err})
			return ctx.Err()
		})
		return found[0], fits, err
	}
	return Source{}, nil, fmt.Errorf("the series has no module %q", module)
}
