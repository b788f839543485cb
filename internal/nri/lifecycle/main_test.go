// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// As defaults: a play takes less than a millisecond, and its goroutines run in another
	// order each time, so that there is nothing to keep of one that failed. The draws are the
	// same in each run: a gate does not find by chance. make search draws others.
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "3000", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
