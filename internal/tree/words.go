// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

const maxColumns = 72 // of a line of a commit's message

// CheckWords returns an error for each line, added by a patch for upstream or in its message, that
// has one of this project's own words (ours), and for each line of a message that is too long.
// Patches on hold keep names that are to be replaced upstream: they are checked for the words
// hold.
func (w *Workspace) CheckWords(ctx context.Context, trees []Tree, ours, hold *regexp.Regexp) ([]error, error) {
	var errs []error
	for _, t := range trees {
		for _, c := range t.Commits {
			if !c.Patch.ForUpstream() || ours == nil {
				continue
			}
			words := ours
			if c.Patch.Status == edit.Hold {
				words = hold
			}
			for line := range strings.Lines(message(c.Patch, repository(t.Path))) {
				line = strings.TrimRight(line, "\n")
				if word := words.FindString(line); word != "" {
					errs = append(errs, fmt.Errorf("%s: its message has %q, which upstream does not know", c.Patch.Name(), word))
				}
				if n := len([]rune(line)); n > maxColumns && !strings.Contains(line, "://") {
					errs = append(errs, fmt.Errorf("%s: a line of its message has %d columns, want %d: %s", c.Patch.Name(), n, maxColumns, line))
				}
			}
			diff, err := t.repo().git(ctx, "diff-tree", "--patch", "--unified=0", "--no-renames", "--no-commit-id", "-r", c.ID)
			if err != nil {
				return nil, err
			}
			file := ""
			for line := range strings.Lines(diff) {
				if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
					file = strings.TrimSpace(name)
					continue
				}
				if !strings.HasPrefix(line, "+") || strings.HasSuffix(file, "go.sum") {
					continue
				}
				if word := words.FindString(line); word != "" {
					errs = append(errs, fmt.Errorf("%s: %s: adds %q, which upstream does not know: %s", c.Patch.Name(), file, word, strings.TrimSpace(line[1:])))
				}
			}
		}
	}
	return errs, nil
}
