// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	configWas = "package hall\n\ntype Config struct {\n\tDoors int `toml:\"doors\"`\n}\n"
	configIs  = `package hall

type Config struct {
	Doors int ` + "`toml:\"doors\"`" + `
	// Opens is when Doors are open,
	// in the evening.
	Opens string ` + "`toml:\"opens,omitempty\" json:\"opens\"`" + `
	inner int
	Other int ` + "`toml:\"-\"`" + `
}

// Stage is another.
type Stage struct {
	// Opens has the curtain raised.
	Opens bool ` + "`toml:\"opens\"`" + `
	// Lights are some.
	Lights []string ` + "`toml:\"lights\"`" + `
}
`
)

// A setting is in the section that has the others of its struct.
func TestSettings(t *testing.T) {
	c, err := settingContent(Repository{Modules: module(configWas, configIs), Defaults: func() ([]byte, error) {
		return []byte("[hall]\ndoors = 2\nopens = '19:00'\n[hall.'main stage']\nopens = true\nlights = ['red', 'blue']\n"), nil
	}})
	require.NoError(t, err)
	require.Empty(t, c.problems)
	require.Equal(t, "In `[hall]`:\n\n| setting | default | meaning |\n|---|---|---|\n"+
		"| `opens` | `'19:00'` | when `doors` are open, in the evening |\n"+
		"\nIn `[hall.\"main stage\"]`:\n\n| setting | default | meaning |\n|---|---|---|\n"+
		"| `opens` | `true` | `opens` has the curtain raised |\n"+
		"| `lights` | `['red', 'blue']` | `lights` are some |\n", c.text)
}

// A table by name has no entry in the product's defaults, and its settings are
// documented nevertheless.
func TestSettingsOfATableByName(t *testing.T) {
	is := strings.Replace(configIs, "	inner int\n", "	// Seats is who sits where.\n	Seats map[string]Seat `toml:\"seats\"`\n", 1) + `
type Seat struct {
	// Row is which.
	Row []string ` + "`toml:\"row\"`" + `
	// Kept is until when it is.
	Kept tomlext.Duration ` + "`toml:\"kept\"`" + `
	// Soft is whether it is.
	Soft bool ` + "`toml:\"soft\"`" + `
	// Price is what it costs.
	Price int ` + "`toml:\"price\"`" + `
	// Name is that of Row.
	Name string ` + "`toml:\"name\"`" + `
}
`
	c, err := settingContent(Repository{Modules: module(configWas, is), Defaults: func() ([]byte, error) {
		return []byte("[hall]\ndoors = 2\nopens = '19:00'\n[hall.seats]\n[hall.stage]\nopens = true\nlights = []\n"), nil
	}})
	require.NoError(t, err)
	require.Empty(t, c.problems)
	require.Contains(t, c.text, "| `seats` | `{}` | who sits where |\n")
	require.Contains(t, c.text, "In `[hall.seats.NAME]`:\n\n| setting | default | meaning |\n|---|---|---|\n"+
		"| `row` | `[]` | which |\n| `kept` | `'0s'` | until when it is |\n| `soft` | `false` | whether it is |\n"+
		"| `price` | `0` | what it costs |\n| `name` | `''` | that of `row` |\n")
}

// A setting that the product does not show, or shows twice, is an error.
func TestSettingsWithoutADefault(t *testing.T) {
	for config, want := range map[string]string{
		"[hall]\ndoors = 2\n":          "setting opens of hall/a.go is not in the default configuration",
		"[a]\nopens=1\n[b]\nopens=1\n": "setting opens of hall/a.go is in several sections",
		"[hall":                        "the default configuration: ",
	} {
		_, err := settingContent(Repository{Modules: module(configWas, configIs), Defaults: func() ([]byte, error) { return []byte(config), nil }})
		require.ErrorContains(t, err, want)
	}
}
