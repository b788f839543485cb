// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

func isTrue(t require.TestingT)  { require.True(t, true) }
func isFalse(t require.TestingT) { require.True(t, false, "it is not so") }

func TestPromiseMustHoldOrBeDeclaredBroken(t *testing.T) {
	t.Parallel()
	declared, racing := OnStock("it is otherwise"), SometimesOnStock("it may be otherwise")
	for name, s := range map[string]struct {
		unpatched  bool
		stock      Breach
		assertions func(require.TestingT)
		fails      string // what the test says
		seen       string // of the breach
	}{
		"holds":                                {false, KeptOnStock, isTrue, "", ""},
		"holds, broken on stock":               {false, declared, isTrue, "", ""},
		"does not hold":                        {false, KeptOnStock, isFalse, "it is not so", ""},
		"does not hold, broken on stock":       {false, declared, isFalse, "it is not so", ""},
		"stock keeps it":                       {true, KeptOnStock, isTrue, "", ""},
		"stock breaks it":                      {true, declared, isFalse, "", "it is not so"},
		"stock breaks it, and nobody says so":  {true, KeptOnStock, isFalse, "it is not so", ""},
		"stock breaks it now and then":         {true, racing, isFalse, "", "it is not so"},
		"stock keeps it now and then":          {true, racing, isTrue, "", ""},
		"does not hold, races on stock":        {false, racing, isFalse, "it is not so", ""},
		"stock keeps it, and is said to break": {true, declared, isTrue, "declared broken on stock (it is otherwise), but holds", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var seen string
			failed := Find(func(t require.TestingT) { seen = judge(t, s.unpatched, s.stock, s.assertions) })
			requireSays(t, failed.String(), s.fails)
			requireSays(t, seen, s.seen)
		})
	}
}

// requireSays looks for words, or for none at all.
func requireSays(t *testing.T, text, words string) {
	t.Helper()
	if words == "" {
		require.Empty(t, text)
		return
	}
	require.Contains(t, text, words)
}

func TestBrokenPromisesAreListed(t *testing.T) {
	t.Parallel()
	var list brokenPromises
	list.add("L1   pods are told; on stock, they are not (TestL1_Pods)")
	list.add("L2   ends are told; on stock, they are not (TestL2_Ends)")
	var text strings.Builder
	list.print(&text)
	require.Equal(t, `L1   pods are told; on stock, they are not (TestL1_Pods)
L2   ends are told; on stock, they are not (TestL2_Ends)
`, text.String())
}
