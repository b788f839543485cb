// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// As defaults: a play takes less than a millisecond, and is never the same
	// twice, so that there is nothing to keep of one that failed.
	for name, value := range map[string]string{"rapid.checks": "3000", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
