// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-logfmt/logfmt"
	"github.com/pelletier/go-toml/v2"
)

// settings are the leaves of a configuration, by their dotted path.
type settings map[string]any

// dump has a containerd of the node print its whole configuration: that of the file, and the
// defaults of all other settings. unknown are keys of the file that have no effect.
func (n Node) dump(ctx context.Context, program, config string) (s settings, unknown []string, err error) {
	return n.settings(ctx, program, "--config", config, "config", "dump")
}

// defaults has it print its configuration without a file.
func (n Node) defaults(ctx context.Context, program string) (settings, error) {
	s, _, err := n.settings(ctx, program, "config", "default")
	return s, err
}

func (n Node) settings(ctx context.Context, program string, args ...string) (s settings, unknown []string, err error) {
	out, log, err := n.ask(ctx, program, args...)
	if err != nil {
		return nil, nil, err
	}
	var tables map[string]any
	if err := toml.Unmarshal([]byte(out), &tables); err != nil {
		return nil, nil, fmt.Errorf("configuration of %s: %w", program, err)
	}
	s = settings{}
	s.take("", tables)
	if len(s) == 0 {
		return nil, nil, fmt.Errorf("%s prints no configuration", program)
	}
	return s, unknownKeys(log), nil
}

// unknownKeys returns the keys in a log of containerd that a plugin does not have and that matter,
// such as a mistyped setting that would limit NRI plugins.
func unknownKeys(log string) (keys []string) {
	for lines := logfmt.NewDecoder(strings.NewReader(log)); lines.ScanRecord(); {
		line := map[string]string{}
		for lines.ScanKeyval() {
			line[string(lines.Key())] = string(lines.Value())
		}
		if line["level"] == "error" && strings.HasPrefix(line["msg"], "unknown key") {
			keys = append(keys, fmt.Sprintf("%s of %s", line["key"], line["plugin"]))
		}
	}
	return keys
}

func (s settings) take(prefix string, table map[string]any) {
	for key, value := range table {
		if below, ok := value.(map[string]any); ok && len(below) > 0 {
			s.take(prefix+key+" . ", below)
			continue
		}
		s[prefix+key] = value
	}
}

// compare fails if the build does not keep a setting of the node: one that differs from the
// default of the distribution's containerd. notes are defaults that differ.
func compare(defaults, distribution, build settings) (notes []string, err error) {
	var lost []string
	for _, name := range slices.Sorted(maps.Keys(distribution)) {
		want := distribution[name]
		is, known := build[name]
		if known && reflect.DeepEqual(is, want) {
			continue
		}
		if was, ok := defaults[name]; ok && reflect.DeepEqual(was, want) {
			notes = append(notes, fmt.Sprintf("default of %s: %v, was %v", name, is, want))
			continue
		}
		lost = append(lost, fmt.Sprintf("%s is %v, would be %v", name, want, is))
	}
	if len(lost) > 0 {
		return nil, fmt.Errorf("the configuration of the node does not fit: %s", strings.Join(lost, "; "))
	}
	return notes, nil
}
