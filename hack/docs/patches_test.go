// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

func TestWhy(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"one sentence", "A plugin is missed.", "A plugin is missed."},
		{"the first of two", "A plugin is missed. Tell it.", "A plugin is missed."},
		{"over two lines", "A plugin\nis missed. Tell it.", "A plugin is missed."},
		{"a stop inside", "A pod, e.g. one in CNI ADD, is missed in v2.4.2. Tell it.", "A pod, e.g. one in CNI ADD, is missed in v2.4.2."},
		{"a paragraph without a stop", "A plugin is missed\n\nTell it.", "A plugin is missed"},
		{"a question", "Does it end? It does.", "Does it end?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, Why(edit.Patch{Body: test.body}))
		})
	}
}
