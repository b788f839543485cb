// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"fmt"
	"go/format"
)

// checkFormat returns an error that shows the first line that gofmt would change. In files with
// CRLF, line ends do not count.
func checkFormat(src []byte) error {
	text, _ := plain(src)
	want, err := format.Source(text)
	if err != nil {
		return err
	}
	return firstDiff(text, want)
}

// firstDiff describes the first line in which two texts differ; nil if none.
func firstDiff(have, want []byte) error {
	if bytes.Equal(have, want) {
		return nil
	}
	h, w := bytes.SplitAfter(have, []byte("\n")), bytes.SplitAfter(want, []byte("\n"))
	n := 0
	for n < len(h) && n < len(w) && bytes.Equal(h[n], w[n]) {
		n++
	}
	at := func(lines [][]byte) string {
		if n < len(lines) {
			return string(lines[n])
		}
		return ""
	}
	return fmt.Errorf("line %d is %q, want %q", n+1, at(h), at(w))
}
