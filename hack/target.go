// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// targets returns the versions of upstream that are supported besides that of go.mod: the folders
// with a go.mod that pins them.
func (a *app) targets() ([]string, error) {
	found, err := filepath.Glob(filepath.Join(a.root, "hack", "targets", "*", "go.mod"))
	var names []string
	for _, name := range found {
		names = append(names, filepath.Base(filepath.Dir(name)))
	}
	return names, err
}

// pins is the folder that pins a target, below the root of the repository.
func (a *app) pins(target string) (string, error) {
	if target == "" {
		return "", nil
	}
	known, err := a.targets()
	if err != nil {
		return "", err
	}
	if !slices.Contains(known, target) {
		return "", fmt.Errorf("unknown target %s: hack/targets has %s", target, strings.Join(known, ", "))
	}
	return filepath.Join("hack", "targets", target), nil
}

// goldenFile has the patch ids of the series on a target.
func (a *app) goldenFile(target string) string {
	if target == "" {
		return filepath.Join(a.root, "patches", "series.golden")
	}
	return filepath.Join(a.root, "hack", "targets", target, "series.golden")
}

// built returns the folder of the builds of a target, in the output folder.
func built(cmd *cli.Command) string {
	if target := cmd.String("target"); target != "" {
		return filepath.Join(cmd.String("output"), "targets", target)
	}
	return cmd.String("output")
}

// patched returns the folder of the patched builds of a target, for the series of the command.
func patched(cmd *cli.Command) string { return filepath.Join(built(cmd), below(cmd)) }
