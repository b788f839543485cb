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

// A goroutine of a play seldom loses its processor between two steps of the engine: it runs on
// until it waits. On a busy node it may lose it anywhere. So the plays also run on a copy of the
// engine that yields before it takes a lock and after it gives one back.

// Statements before or after which the copy yields.
var (
	locks   = regexp.MustCompile(`(?m)^(\t+)(\w+(?:\.\w+)*\.mu\.Lock\(\))$`)
	unlocks = regexp.MustCompile(`(?m)^(\t+)(\w+(?:\.\w+)*\.mu\.Unlock\(\))$`)
	delayed = regexp.MustCompile(`(?m)^(\t+)defer (\w+(?:\.\w+)*\.mu\.Unlock\(\))$`)
)

// yields is an additional file of the copy.
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
	require.Greater(t, many, 150, "too few yields: the engine's locks have other names")
	return compile(t, ".", nil, replaced, raced()...)
}

// raced returns the race detector's flag if this program has it.
func raced() []string {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			return []string{"-race"}
		}
	}
	return nil
}

// TestContractWithYields plays the plays of TestContract and TestHarshContract on an engine that
// yields, with the number and the seed that this program was given.
func TestContractWithYields(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the engine")
	}
	given := func(name string) string { return flag.Lookup(name).Value.String() }
	out, failed := buildYielding(t).run("-test.run", "^Test(Harsh)?Contract$", "-test.timeout", "0",
		"-rapid.nofailfile", "-rapid.shrinktime", "0s", "-rapid.checks", given("rapid.checks"), "-rapid.seed", given("rapid.seed"))
	require.False(t, failed, "%s", out)
}
