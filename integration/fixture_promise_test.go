// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// breaks are the promises that stock was seen to break, in the order of the tests.
var breaks struct {
	sync.Mutex
	lines []string
}

// stockBreaks checks a promise that the unpatched containerd breaks. There the
// assertions must fail, or the declaration is wrong; what else the test
// asserts must hold on both. what says how stock breaks the rule.
func stockBreaks(t *testing.T, rule, what string, promise func(t require.TestingT)) {
	t.Helper()
	if !onStock {
		promise(t)
		return
	}
	seen := failures(promise)
	if seen == "" {
		t.Errorf("%s is declared to be broken on stock (%s), but holds", rule, what)
		return
	}
	t.Logf("stock breaks %s: %s; as seen: %s", rule, what, seen)
	breaks.Lock()
	defer breaks.Unlock()
	breaks.lines = append(breaks.lines, fmt.Sprintf("%-4s %s (%s)", rule, what, t.Name()))
}

// holds checks a promise of a table, which stock breaks where it is said how.
func holds(t *testing.T, rule, breaks string, promise func(t require.TestingT)) {
	t.Helper()
	if breaks == "" {
		promise(t)
		return
	}
	stockBreaks(t, rule, breaks, promise)
}

// printBreaks prints what stock breaks, if the tests ran on it.
func printBreaks(w io.Writer) {
	if !onStock {
		return
	}
	fmt.Fprintf(w, "stock breaks %d promises:\n", len(breaks.lines))
	for _, line := range breaks.lines {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// failures runs assertions and returns what they found, empty when they hold.
func failures(promise func(t require.TestingT)) string {
	var f recorder
	done := make(chan struct{})
	go func() { // a goroutine of its own, which FailNow ends
		defer close(done)
		promise(&f)
	}()
	<-done
	return f.text.String()
}

// recorder is a test that fails without failing the test.
type recorder struct{ text strings.Builder }

func (r *recorder) Errorf(format string, args ...any) { fmt.Fprintf(&r.text, format, args...) }

func (r *recorder) FailNow() {
	if r.text.Len() == 0 {
		r.text.WriteString("failed")
	}
	runtime.Goexit()
}

func TestFailuresAreRecorded(t *testing.T) {
	require.Empty(t, failures(func(t require.TestingT) { require.True(t, true) }))
	require.Contains(t, failures(func(t require.TestingT) {
		require.Equal(t, "told", "missed")
		panic("not reached")
	}), "missed")
}
