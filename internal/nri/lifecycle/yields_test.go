// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A goroutine of a play seldom loses its processor between two steps of the engine: it
// runs on until it waits. On a node that is busy it loses it anywhere. So the plays are
// played on a copy of the engine, too, in which others have a turn, or some, wherever a
// lock is about to be taken and was given back.

// A yielding statement is one before or after which others have their turn.
var (
	locks   = regexp.MustCompile(`(?m)^(\t+)(\w+(?:\.\w+)*\.mu\.Lock\(\))$`)
	unlocks = regexp.MustCompile(`(?m)^(\t+)(\w+(?:\.\w+)*\.mu\.Unlock\(\))$`)
	delayed = regexp.MustCompile(`(?m)^(\t+)defer (\w+(?:\.\w+)*\.mu\.Unlock\(\))$`)
)

// yields is a file that the copy has besides.
const yields = `package lifecycle

import (
	"math/rand/v2"
	"runtime"
)

func yield() {
	for range rand.IntN(4) {
		runtime.Gosched()
	}
}
`

// buildYielding compiles the engine with yields.
func buildYielding(t *testing.T) mutant {
	dir, err := os.Getwd()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	replaced := map[string]string{filepath.Join(dir, "yields.go"): yields}
	many := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		text := locks.ReplaceAllString(string(source), "${1}yield()\n${1}${2}")
		text = unlocks.ReplaceAllString(text, "${1}${2}\n${1}yield()")
		text = delayed.ReplaceAllString(text, "${1}defer yield()\n${1}defer ${2}")
		if text != string(source) {
			replaced[file] = text
		}
		many += strings.Count(text, "yield()\n")
	}
	require.Greater(t, many, 150, "so many yields are expected at least: the engine's locks have other names")
	return compile(t, ".", nil, replaced, raced()...)
}

// raced is what the copy is built with: the race detector if this program is.
func raced() []string {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			return []string{"-race"}
		}
	}
	return nil
}

// TestContractWithYields plays the plays of TestContract, and harsher ones, on an engine
// that yields, as many of each and with the seed that this program was given.
func TestContractWithYields(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the engine")
	}
	given := func(name string) string { return flag.Lookup(name).Value.String() }
	out, failed := buildYielding(t).run("-test.run", "^Test(Harsh)?Contract$", "-test.timeout", "0",
		"-rapid.nofailfile", "-rapid.shrinktime", "0s", "-rapid.checks", given("rapid.checks"), "-rapid.seed", given("rapid.seed"))
	require.False(t, failed, "%s", out)
}
