// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/semver"
)

var (
	used   = regexp.MustCompile(`(?m)^\s*- uses: (.*)$`)
	pinned = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v[0-9.]+$`)
	withGo = regexp.MustCompile(`(?m)^\s*go-version(?:-file)?: (.*)$`)
)

// An action is named by its commit: a tag may be moved. Go is the newest patch release of the line
// that go.mod names.
func TestWorkflowsPinActionsAndFollowGo(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	line := semver.MajorMinor("v" + goMod(t, ".").Go.Version)[1:]
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		uses := used.FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, uses, file)
		for _, action := range uses {
			require.Regexp(t, pinned, action[1], file)
		}
		for _, version := range withGo.FindAllStringSubmatch(string(text), -1) {
			require.Equal(t, fmt.Sprintf("%q # the newest patch release", line+".x"), version[1], file)
		}
	}
}

// The newest release of each line that the series follows is tried each day.
func TestUpstreamIsWatchedOnEachLine(t *testing.T) {
	workflow, err := os.ReadFile("../.github/workflows/upstream.yml")
	require.NoError(t, err)
	require.Regexp(t, `cron: "\d+ \d+ \* \* \*"`, string(workflow), "it runs each day")
	watched := func(module, version, target string) {
		require.Contains(t, string(workflow), fmt.Sprintf("{module: %s, version: %s, target: %q}", module, semver.MajorMinor(version), target))
	}
	for _, r := range goMod(t, ".").Require {
		if r.Mod.Path == "github.com/containerd/containerd/v2" || r.Mod.Path == "github.com/containerd/nri" {
			watched(r.Mod.Path, r.Mod.Version, "")
		}
	}
	targets, err := filepath.Glob("targets/*")
	require.NoError(t, err)
	require.NotEmpty(t, targets)
	for _, target := range targets {
		for _, r := range goMod(t, filepath.Join("hack", target)).Require {
			watched(r.Mod.Path, r.Mod.Version, filepath.Base(target))
		}
	}
}
