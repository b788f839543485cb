// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"fmt"
	"strings"
)

// OwnText replaces text, which occurs once, in a file that the patch itself brings. Of
// files that are upstream's it is refused: places there are named by their shape, and
// nothing of them is written down here. The text is that of the file as it is brought,
// without the rules that it cites.
func OwnText(path, text, by string) Edit {
	name := text
	if line, _, more := strings.Cut(text, "\n"); more {
		name = line + " ..."
	}
	e := document(path, fmt.Sprintf("text %q", name), func(was string) (string, error) {
		if n := strings.Count(was, text); n != 1 {
			return "", fmt.Errorf("occurs %d times, want 1", n)
		}
		return strings.Replace(was, text, by, 1), nil
	})
	e.own = true
	if text == "" {
		e.err = errEmptyText
	}
	return e
}
