// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const glossary = "| `told`, `hears` | receives |\n<!-- rejected words -->\n| not | but |\n|---|---|\n" +
	"| `told`, `comes up` | delivered; starts |\n<!-- /rejected words -->\n"

func TestRejectedWords(t *testing.T) {
	words, err := ReadWords(glossary)
	require.NoError(t, err)
	require.Equal(t, Words{"told": "delivered; starts", "comes up": "delivered; starts"}, words)
	for text, at := range map[string][]string{
		"A plugin is told.":               {"1"},
		"Nothing\n// comes\n// up before": {"2"},
		"func TestPodComesUpOnce(":        {"1"},
		"pod_comes_up and NRITold":        {"1", "1"},
		"told-once, Told, TOLD":           {"1", "1", "1"},
		"what comes. Up to ten":           nil,
		"retold and tolder":               nil,
		"it hears":                        nil,
	} {
		var lines []string
		for _, err := range words.Check("f", text) {
			require.ErrorContains(t, err, "write delivered; starts")
			require.Regexp(t, `^f:(\d+): "(told|comes up)": `, err.Error())
			lines = append(lines, string(err.Error()[2]))
		}
		require.Equal(t, at, lines, text)
	}
}

func TestGlossaryWithoutWords(t *testing.T) {
	_, err := ReadWords("# Words\n")
	require.ErrorContains(t, err, "no table of rejected words")
	_, err = ReadWords("<!-- rejected words -->\n| told | delivered |\n<!-- /rejected words -->\n")
	require.ErrorContains(t, err, "no phrase in backquotes")
}
