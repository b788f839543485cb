// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/script"
)

// countedText stands in the place of a program, and notes how it is called.
const countedText = `#!/bin/sh
echo "@NAME@ $CNI_COMMAND $*" >>'@CALLS@'
exec '@PROGRAM@' "$@"
`

// StandIn puts a script in the place of a program of a node, as script.StandIn says.
func StandIn(t *testing.T, n *node.Node, path, text string, words ...string) {
	t.Helper()
	require.NoError(t, script.StandIn(filepath.Join(n.Folder(), path), text, words...))
}

// ProgramCalls are the calls of programs that a node starts for pods.
type ProgramCalls struct {
	file string
}

// CountCalls counts the calls of a node's programs from now on.
func CountCalls(t *testing.T, n *node.Node, programs ...string) ProgramCalls {
	t.Helper()
	c := ProgramCalls{file: filepath.Join(n.Folder(), "calls")}
	for _, path := range programs {
		StandIn(t, n, path, countedText, "@NAME@", filepath.Base(path), "@CALLS@", c.file)
	}
	return c
}

// Of counts the calls that have each of words, such as "runc" and "create".
func (c ProgramCalls) Of(t require.TestingT, words ...string) (n int) {
	text, err := os.ReadFile(c.file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(fields, word) }) {
			n++
		}
	}
	return n
}

// BuildProgram builds a program of this repository. That takes minutes where nothing was built
// before, so its only end is that of the tests.
func BuildProgram(t *testing.T, folder string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), filepath.Base(folder))
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, folder)
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as these tests are: what they share is built
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}
