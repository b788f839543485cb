// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"strings"
)

// content has the git trees of commits, by their ids: the same for the same files, whatever the
// messages are.
type content map[string]string

func contents(ctx context.Context, trees []Tree) (content, error) {
	all := content{}
	for _, t := range trees {
		ids := []string{t.Base}
		for _, c := range t.Commits {
			ids = append(ids, c.ID)
		}
		out, err := t.repo().gitWith(ctx, strings.NewReader(strings.Join(ids, "\n")), nil, "log", "--no-walk=unsorted", "--stdin", "--format=%H %T")
		if err != nil {
			return nil, fmt.Errorf("contents of %s: %w", t.Name, err)
		}
		for line := range strings.Lines(out) {
			if id, files, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				all[id] = files
			}
		}
	}
	return all, nil
}

// tips identifies the files of trees with all their patches.
func (c content) tips(trees []Tree) string {
	var parts []string
	for _, t := range trees {
		parts = append(parts, t.Name, c[t.Tip()])
	}
	return key(parts...)
}
