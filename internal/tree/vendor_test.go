// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The vendor folder changes with go.mod, and with the imported packages of other modules.
func TestRevendor(t *testing.T) {
	const fmt, own, other, more = "package p\nimport \"fmt\"\n", "package p\nimport \"example.com/m/q\"\n", "package p\nimport \"example.com/other/q\"\n", "package p\nimport \"example.com/m2\"\n"
	for name, c := range map[string]struct {
		files map[string]string // by revision and name
		want  bool
	}{
		"go.mod":                   {map[string]string{"HEAD:go.mod": ""}, true},
		"go.mod of another module": {map[string]string{"HEAD:api/go.mod": ""}, false},
		"standard library and own": {map[string]string{"HEAD~:p.go": fmt, "HEAD:p.go": own}, false},
		"a package more":           {map[string]string{"HEAD~:p.go": fmt, "HEAD:p.go": other}, true},
		"a package less":           {map[string]string{"HEAD~:p.go": other}, true},
		"of a file that moved":     {map[string]string{"HEAD~:p.go": other, "HEAD:q.go": other}, false},
		"of a name like the own":   {map[string]string{"HEAD:p_test.go": more}, true},
		"no code":                  {map[string]string{"HEAD:p.md": other}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := revendor("example.com/m", func(args ...string) (string, error) {
				if args[0] == "show" {
					if content, ok := c.files[args[1]]; ok {
						return content, nil
					}
					return "", errors.New("no such file")
				}
				var names []string
				for key := range c.files {
					_, file, _ := strings.Cut(key, ":")
					names = append(names, file)
				}
				return strings.Join(names, "\n"), nil
			})
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}
