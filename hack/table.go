// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/hookline-nri/hookline/hack/docs"
	"github.com/hookline-nri/hookline/internal/edit"
)

// plainTable prints the series for a terminal.
func plainTable(out io.Writer, s edit.Series) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PATCH\tSTATUS\tRULES\tWHY")
	for _, p := range s.Patches {
		rules := strings.Join(p.Rules, ",")
		if rules == "" {
			rules = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", p.Name(), p.Status, rules, docs.Why(p))
	}
	return t.Flush()
}
