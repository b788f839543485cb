// SPDX-License-Identifier: Apache-2.0

// Command lowcap is runc for hosts whose root lacks CAP_SYS_RESOURCE, such as some virtual machines
// and containers. There an engine cannot start a privileged container: its specification asks for
// this capability, and perhaps for an OOM score below the parent's. Both are removed from it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

const runc = "/usr/sbin/runc"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "lowcap:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case slices.Contains(args, "create") || slices.Contains(args, "run"):
		if err := rewrite(filepath.Join(value(args, "--bundle", "-b"), "config.json"), bundle); err != nil {
			return err
		}
	case slices.Contains(args, "exec"):
		if file := value(args, "--process", "-p"); file != "" {
			if err := rewrite(file, process); err != nil {
				return err
			}
		}
	}
	if err := syscall.Exec(runc, append([]string{runc}, args...), os.Environ()); err != nil {
		return fmt.Errorf("exec %s: %w", runc, err)
	}
	return nil
}

// value returns the value of a flag, or nothing.
func value(args []string, names ...string) string {
	for i, arg := range args[:max(len(args)-1, 0)] {
		if slices.Contains(names, arg) {
			return args[i+1]
		}
	}
	return ""
}

// object is any JSON object: unknown fields are kept.
type object = map[string]any

// rewrite changes a file of JSON in place.
func rewrite(file string, change func(object)) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var spec object
	if err := json.Unmarshal(text, &spec); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	change(spec)
	if text, err = json.Marshal(spec); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

func bundle(spec object) {
	if p, ok := spec["process"].(object); ok {
		process(p)
	}
}

// process removes from a process what this host cannot give it.
func process(p object) {
	if score, ok := p["oomScoreAdj"].(float64); ok && score < 0 {
		p["oomScoreAdj"] = 0
	}
	sets, ok := p["capabilities"].(object)
	if !ok {
		return
	}
	for name, set := range sets {
		if list, ok := set.([]any); ok {
			sets[name] = slices.DeleteFunc(list, func(c any) bool { return c == "CAP_SYS_RESOURCE" })
		}
	}
}
