// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// Promise asserts, in a subtest of its own, that something holds which a rule
// of the contract says. On stock the assertions must fail if that is declared,
// and hold if it is not: either way a wrong declaration fails the test.
//
// Each promise is asserted, whichever before it failed. So what several stand
// on is done before the first of them, and its errors are what they look at.
func Promise(t *testing.T, rule, holds string, stock Breach, assertions func(t require.TestingT)) {
	t.Helper()
	test := t.Name()
	t.Run(rule+" "+holds, func(t *testing.T) {
		seen := judge(t, RunsOnStock, stock, assertions)
		switch {
		case seen != "":
			t.Logf("stock breaks it: %s; as seen: %s", stock.Words, seen)
			broken.add(fmt.Sprintf("%-4s %s; on stock, %s (%s)", rule, holds, stock.Words, test))
		case RunsOnStock && stock.Sometimes:
			t.Skipf("stock breaks it now and then, not this time: %s", stock.Words)
		}
	})
}

// judge fails unless the assertions hold, or do not and are declared so of the
// runtime that the test runs on. Then it returns what they found.
func judge(t require.TestingT, unpatched bool, stock Breach, assertions func(t require.TestingT)) string {
	if !unpatched || stock == KeptOnStock {
		assertions(t)
		return ""
	}
	seen := Find(assertions)
	if !seen.Failed() && !stock.Sometimes {
		t.Errorf("declared broken on stock (%s), but holds", stock.Words)
	}
	return seen.String()
}

// broken are the promises that stock was seen to break.
var broken brokenPromises

// brokenPromises are lines, in the order of the tests.
type brokenPromises struct {
	sync.Mutex
	lines []string
}

func (b *brokenPromises) add(line string) {
	b.Lock()
	defer b.Unlock()
	b.lines = append(b.lines, line)
}

// print lists the broken promises, each on a line.
func (b *brokenPromises) print(w io.Writer) {
	b.Lock()
	defer b.Unlock()
	for _, line := range b.lines {
		fmt.Fprintln(w, line)
	}
}
