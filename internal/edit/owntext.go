// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
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

// OwnLines replaces lines by others, or cuts them out, in a file that the patch itself
// brings: from the line that is first, which occurs once, to the next one that is last
// and is indented as that is. Both are given without their indent, and of the blanks
// within a line, by which gofmt aligns, any number is as good as one.
func OwnLines(path, first, last, by string) Edit {
	e := document(path, fmt.Sprintf("lines %q to %q", first, last), func(was string) (string, error) {
		lines := strings.SplitAfter(was, "\n")
		from, n := 0, 0
		for i, line := range lines {
			if isLine(line, first) {
				from = i
				n++
			}
		}
		if n != 1 {
			return "", fmt.Errorf("the first occurs %d times, want 1", n)
		}
		for to := from; to < len(lines); to++ {
			if isLine(lines[to], last) && indent(lines[to]) == indent(lines[from]) {
				return strings.Join(lines[:from], "") + by + strings.Join(lines[to+1:], ""), nil
			}
		}
		return "", errors.New("the last does not follow")
	})
	e.own = true
	if strings.TrimSpace(first) == "" || strings.TrimSpace(last) == "" {
		e.err = errEmptyText
	}
	return e
}

// isLine says whether a line has that text, whatever its indent.
func isLine(line, text string) bool {
	return strings.Join(strings.Fields(line), " ") == strings.Join(strings.Fields(text), " ")
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, "\t")) }
