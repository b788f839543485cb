// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"text/tabwriter"

	"github.com/urfave/cli/v3"
)

// A target with a comment behind two hashes is for people.
var target = regexp.MustCompile(`(?m)^([a-z-]+):.*?## (.*)$`)

func (a *app) targets() *cli.Command {
	return &cli.Command{
		Name:      "targets",
		Usage:     "list the targets of the Makefile",
		UsageText: "go run ./hack targets",
		Before:    takes(0, ""),
		Action: func(context.Context, *cli.Command) error {
			makefile, err := os.ReadFile(filepath.Join(a.root, "Makefile"))
			if err != nil {
				return err
			}
			t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			seen := map[string]bool{}
			for _, m := range target.FindAllStringSubmatch(string(makefile), -1) {
				if !seen[m[1]] {
					fmt.Fprintf(t, "make %s\t%s\n", m[1], m[2])
				}
				seen[m[1]] = true
			}
			return t.Flush()
		},
	}
}
