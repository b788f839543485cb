// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"go/token"
	"strings"
)

var errEmptyText = errors.New("empty text")

// lines normalizes text of a patch: it removes the newline that starts a raw string on a line of
// its own, and ends the text in exactly one. Other newlines at either end are blank lines that
// the patch wants.
func lines(text string) (string, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.TrimPrefix(text, "\n")
	text = strings.TrimSuffix(text, "\n")
	if strings.TrimSpace(text) == "" {
		return "", errEmptyText
	}
	if strings.Contains(text, "\r") {
		return "", errors.New("text has a carriage return within a line")
	}
	// A comment or string that is left open would swallow the code after it.
	if _, err := scan([]byte(text)); err != nil {
		return "", fmt.Errorf("text: %w", err)
	}
	return text + "\n", nil
}

// joined checks text that other code follows on its last line.
func joined(text string) (string, error) {
	text, err := lines(text)
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(text)
	items, err := scan([]byte(text))
	if err != nil {
		return "", err
	}
	if last := items[len(items)-1]; strings.HasPrefix(last.lit, "//") {
		return "", errors.New("text ends in a comment and would share its line with other code: replace the code around it")
	}
	return text, nil
}

// sameLine checks text that goes on a line between other code.
func sameLine(text string) (string, error) {
	text, err := joined(text)
	if err == nil && strings.Contains(text, "\n") {
		err = errors.New("text of several lines would share one with other code: replace the code around it")
	}
	return text, err
}

// reindent puts indent before each line of text, except empty ones and lines that begin inside a
// raw string.
func reindent(text, indent string) string {
	return eachLine(text, func(line string) string { return indent + line })
}

// shift moves text from the indent from to the indent to. It changes only the depth, since a
// label stands less deep than the statements around it.
func shift(text, from, to string) string {
	if rest, deeper := strings.CutPrefix(to, from); deeper {
		return eachLine(text, func(line string) string { return rest + line })
	}
	drop := len(from) - len(to)
	return eachLine(text, func(line string) string {
		for n := 0; n < drop && strings.HasPrefix(line, "\t"); n++ {
			line = line[1:]
		}
		return line
	})
}

// eachLine maps the lines of text, except empty ones and lines that begin inside a raw string:
// these would change the string.
func eachLine(text string, change func(line string) string) string {
	raw := rawLines(text)
	all := strings.SplitAfter(text, "\n")
	for i, line := range all {
		switch {
		case raw[i]:
		case strings.TrimSpace(line) != "":
			all[i] = change(line)
		case line != "":
			all[i] = "\n"
		}
	}
	return strings.Join(all, "")
}

// rawLines returns which lines of text, counted from 0, begin inside a raw string.
func rawLines(text string) map[int]bool {
	raw := map[int]bool{}
	// Text that does not scan does not parse either, and is rejected after the edit.
	items, _ := scan([]byte(text))
	for _, it := range items {
		if it.tok != token.STRING || it.lit[0] != '`' {
			continue
		}
		first := strings.Count(text[:it.lo], "\n")
		for n := range strings.Count(it.lit, "\n") {
			raw[first+1+n] = true
		}
	}
	return raw
}

// withoutComma returns an element's text without the comma that ends it.
func withoutComma(text string) string {
	if last, ok := lastCode(text); ok && last.tok == token.COMMA {
		return text[:last.lo] + text[last.hi:]
	}
	return text
}

// withComma returns an element's text with a comma that ends it.
func withComma(text string) string {
	if last, ok := lastCode(text); ok && last.tok != token.COMMA {
		return text[:last.hi] + "," + text[last.hi:]
	}
	return text
}

// lastCode returns the last token that is no comment.
func lastCode(text string) (item, bool) {
	items, _ := scan([]byte(text))
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].tok != token.COMMENT {
			return items[i], true
		}
	}
	return item{}, false
}
