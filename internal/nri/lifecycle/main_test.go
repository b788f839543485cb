// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// These are defaults. The draws are the same in each run, since a gate must not find faults
	// by chance; make search draws others. There is no fail file: a play takes less than a
	// millisecond, and its goroutines run in another order each time.
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "3000", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
