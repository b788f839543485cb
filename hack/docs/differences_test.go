// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDifferencesNamePatchAndTest(t *testing.T) {
	patches, tests := []string{"door/knock-first", "door/ring"}, []string{"TestL1_KnockIsHeard", "L2_BellIsHeard"}
	for _, c := range []struct{ name, page, problem string }{
		{"complete", "- **Knocks come first.**\n  No more. `door/knock-first`: `TestL1_KnockIsHeard`\n\n* Rings. `door/ring`: `L2_BellIsHeard`\n", ""},
		{"no patch", "- **Knocks.**\n  `TestL1_KnockIsHeard`\n- `door/ring` `door/knock-first` `L2_BellIsHeard`\n", `"**Knocks.**": name the patch that makes the difference`},
		{"no test", "- Knocks\n  come. `door/knock-first`\n- `door/ring` `L2_BellIsHeard`\n", `"Knocks": name a test that tries it`},
		{"a test that is gone", "- Knocks\n  `door/ring` `door/knock-first` `TestL1_KnockIsHeard` `TestGone`\n", `"Knocks": no test TestGone exists`},
		{"a patch that is not named", "The door/ring.\n\n- Knocks `door/knock-first` `TestL1_KnockIsHeard`\n", `no item names door/ring: add one, or name the patch under "Nothing to notice"`},
		{"a patch without effect", "- [Doors](#doors)\n\n## Doors\n- Knocks `door/knock-first` `TestL1_KnockIsHeard`\n\nThe rest: `door/ring`.\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := errors.Join(checkEach([]byte(c.page), patches, tests)...)
			if c.problem == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.problem)
		})
	}
}
