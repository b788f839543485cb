// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Words maps each phrase that the glossary rejects to its replacement.
type Words map[string]string

var (
	quoted = regexp.MustCompile("`([^`]+)`")

	// A piece is a word, which may be a part of a name such as PodSandbox, or a character between
	// words, so that no phrase spans two sentences. A phrase may span lines of a comment.
	piece = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|[0-9]+|\n[\t ]*(?://|#)?|[^A-Za-z0-9 _-]`)

	acronym = regexp.MustCompile(`([A-Z])([A-Z][a-z])`) // CRIPod is CRI and Pod
)

// ReadWords reads the table of the glossary.
func ReadWords(glossary string) (Words, error) {
	page, err := cut(glossary, "rejected words")
	if err != nil {
		return nil, fmt.Errorf("the glossary has no table of rejected words: %w", err)
	}
	words := Words{}
	for row := range strings.Lines(page.table) {
		c := cells(row)
		if len(c) != 2 {
			continue
		}
		for _, phrase := range quoted.FindAllStringSubmatch(c[0], -1) {
			words[phrase[1]] = c[1]
		}
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("the glossary's table of rejected words has no phrase in backquotes")
	}
	return words, nil
}

// Check returns an error for each phrase of a text that the glossary rejects.
func (w Words) Check(name, text string) (errs []error) {
	pieces, lines := split(text)
	for _, phrase := range slices.Sorted(maps.Keys(w)) {
		want := strings.Fields(phrase)
		for i := range pieces {
			if i+len(want) <= len(pieces) && slices.Equal(pieces[i:i+len(want)], want) {
				errs = append(errs, fmt.Errorf("%s:%d: %q: write %s", name, lines[i], phrase, w[phrase]))
			}
		}
	}
	return errs
}

// split returns the words of a text in lower case, the characters between them, and the line of
// each.
func split(text string) (pieces []string, lines []int) {
	line := 1
	for _, p := range piece.FindAllString(acronym.ReplaceAllString(text, "$1 $2"), -1) {
		if strings.HasPrefix(p, "\n") {
			line++
			continue
		}
		pieces = append(pieces, strings.ToLower(p))
		lines = append(lines, line)
	}
	return pieces, lines
}
