// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// defaults are the values of a configuration by section and name.
type defaults map[string]map[string]any

// readDefaults reads a configuration in TOML.
func readDefaults(text []byte) (defaults, error) {
	var root map[string]any
	if err := toml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("the default configuration: %w", err)
	}
	d := defaults{}
	d.add("", root)
	return d, nil
}

func (d defaults) add(section string, values map[string]any) {
	d[section] = values
	for name, value := range values {
		if inner, ok := value.(map[string]any); ok {
			d.add(strings.TrimPrefix(section+"."+tomlKey(name), "."), inner)
		}
	}
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(name string) string {
	if bareKey.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

// ofEntry finds the section and the value of a setting. The default configuration has no entry of a
// table by name: its settings are in a section NAME.
func (d defaults) ofEntry(s setting, tables map[string]setting) (section, value string, err error) {
	table, ok := tables[s.of]
	if !ok {
		return d.of(s)
	}
	section, _, err = d.of(table)
	return section + "." + tomlKey(table.name) + ".NAME", s.zero, err
}

// of finds the section of a setting, and its value in TOML. It is the section that has most of the
// settings of the same struct.
func (d defaults) of(s setting) (section, value string, err error) {
	best, tied := 0, false
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if _, ok := d[name][s.name]; !ok {
			continue
		}
		n := 0
		for _, fellow := range s.fellows {
			if _, ok := d[name][fellow]; ok {
				n++
			}
		}
		if n == best {
			tied = true
		} else if n > best {
			section, best, tied = name, n, false
		}
	}
	if best == 0 {
		return "", "", fmt.Errorf("%s is not in the default configuration", s.about())
	}
	if tied {
		return "", "", fmt.Errorf("%s is in several sections of the default configuration, so that its section is not known", s.about())
	}
	if table, ok := d[section][s.name].(map[string]any); ok && len(table) == 0 {
		return section, "{}", nil
	}
	text, err := toml.Marshal(map[string]any{"v": d[section][s.name]})
	return section, strings.TrimPrefix(strings.TrimSpace(string(text)), "v = "), err
}
