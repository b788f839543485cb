// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/internal/tree"
)

// checkGroups checks each pull request of these names alone, or all of them, and prints the
// results.
func (a *app) checkGroups(ctx context.Context, w *tree.Workspace, names []string) error {
	groups := a.series.Groups
	if names != nil {
		groups = nil
	}
	for _, name := range names {
		g, err := a.series.Group(name)
		if err != nil {
			return err
		}
		groups = append(groups, g)
	}
	checked, err := w.CheckGroups(ctx, groups, a.product)
	if err != nil {
		return err
	}
	if err := groupTable(a.stdout, a.series, checked); err != nil {
		return err
	}
	var errs []error
	now := 0
	for _, c := range checked {
		if c.Now {
			now++
		}
		errs = append(errs, c.Err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%d pull requests pass alone, %d of them checked now\n", len(checked), now)
	return err
}

// groupTable prints pull requests for a terminal.
func groupTable(out io.Writer, s edit.Series, checked []tree.GroupCheck) error {
	yes := map[bool]string{true: "yes", false: "NO"}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PULL REQUEST\tOF\tPATCHES\tFILES\tLINES\tOF TESTS\tAPPLIES\tCOMPILES\tTESTS")
	for _, c := range checked {
		tests := fmt.Sprintf("%d pass", c.Tests)
		if c.Skipped > 0 {
			tests += fmt.Sprintf(", %d skipped", c.Skipped)
		}
		if c.Err != nil {
			tests += ", FAILS"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", c.Group.Name(), c.Group.Module(), len(c.Group.Patches),
			c.Size.Files, c.Size.Code, c.Size.Tests, yes[c.Applies], yes[c.Compiles], tests)
	}
	return t.Flush()
}
