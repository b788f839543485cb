// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"

	"github.com/hookline-nri/hookline/conformance/cases"
)

// The contract that the cases test. Its version grows with each new or changed rule.
const (
	contractPage    = "https://github.com/hookline-nri/hookline/blob/main/docs/contract.md"
	contractVersion = "7"
)

// rules returns the rules of the contract, in its order.
func rules() (rules []string) {
	for _, kind := range []struct {
		letter string
		last   int
	}{{"L", 29}, {"N", 7}, {"R", 4}} {
		for i := 1; i <= kind.last; i++ {
			rules = append(rules, fmt.Sprint(kind.letter, i))
		}
	}
	return rules
}

// WithoutCases returns the rules that have no case.
func WithoutCases() (without []string) {
	var have []string
	for _, p := range cases.Profiles() {
		for _, c := range p.Cases() {
			have = append(have, c.Rule())
		}
	}
	for _, rule := range rules() {
		if !slices.Contains(have, rule) {
			without = append(without, rule)
		}
	}
	return without
}
