// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recipe matches the commands with which CONTRIBUTING.md drops a pull request.
var recipe = regexp.MustCompile("(?s)\n## Drop a pull request or a patch\n.*?\n```\n(rm -r .*?)\n```\n")

// dropped is the pull request that the recipe drops.
const dropped = "patches/network/internal-loopback"

func commandsOf(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../CONTRIBUTING.md")
	require.NoError(t, err)
	commands := recipe.FindStringSubmatch(string(text))
	require.NotNil(t, commands, "CONTRIBUTING.md has no such recipe")
	return commands[1]
}

func run(t *testing.T, folder, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// A pull request consists of its folder and its lines in series.go. Without them the rest
// compiles and is valid.
func TestPullRequestIsDroppedWithItsFolder(t *testing.T) {
	copied := t.TempDir()
	for _, part := range []string{"go.mod", "go.sum", "plugin/go.mod", "podresources/go.mod", "podstate/go.mod", "updates/go.mod", "internal/edit", "patches"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(copied, part)), 0o755))
		run(t, "..", "cp", "-R", part, filepath.Join(copied, part))
	}
	run(t, copied, "sh", "-ec", commandsOf(t))
	require.NoDirExists(t, filepath.Join(copied, dropped))
	run(t, copied, "go", "vet", "./patches/...")
	run(t, copied, "go", "test", "-run", "^(TestSeriesIsValid|TestInPlace)$", "./patches")
}

// The commands remove exactly two lines for any pull request: its import and its group.
func TestAnyPullRequestIsDroppedAlone(t *testing.T) {
	series, err := os.ReadFile("series.go")
	require.NoError(t, err)
	pkg := func(folder string) string { return strings.ReplaceAll(filepath.Base(folder), "-", "") }
	for _, g := range Series.Groups {
		t.Run(g.Name(), func(t *testing.T) {
			copied := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(copied, g.Folder), 0o755))
			file := filepath.Join(copied, "patches", "series.go")
			require.NoError(t, os.WriteFile(file, series, 0o644))
			commands := strings.NewReplacer(strings.TrimPrefix(dropped, "patches/"), strings.TrimPrefix(g.Folder, "patches/"), pkg(dropped), pkg(g.Folder))
			run(t, copied, "sh", "-ec", commands.Replace(commandsOf(t)))
			left, err := os.ReadFile(file)
			require.NoError(t, err)
			var want strings.Builder
			for line := range strings.Lines(string(series)) {
				if strings.Contains(line, "/"+g.Folder+"\"") || strings.TrimSpace(line) == pkg(g.Folder)+".Group," {
					continue
				}
				want.WriteString(line)
			}
			require.Equal(t, strings.Count(string(series), "\n")-2, strings.Count(want.String(), "\n"))
			require.Equal(t, want.String(), string(left))
		})
	}
}
