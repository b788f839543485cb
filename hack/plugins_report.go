// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/integration/suites"
)

// verdictsOf are the verdicts among results, by the plugin and the sentence.
func verdictsOf(results suites.Results) suites.Results {
	verdicts := suites.Results{}
	for name, result := range results {
		if parts := strings.Split(name, "/"); len(parts) == 3 {
			verdicts[words(parts[1])+": "+words(parts[2])] = result
		}
	}
	return verdicts
}

// words is a part of a test's name as it was written.
func words(part string) string { return strings.ReplaceAll(part, "_", " ") }

// A gain is what holds on hookline alone, and for which plugins.
type gain struct{ plugins, sentences []string }

// gains are in the order of the plugins. Plugins that gain the same are in one.
func gains(stock, hookline suites.Results) (all []gain) {
	of := map[string][]string{}
	for _, verdict := range slices.Sorted(maps.Keys(hookline)) {
		plugin, sentence, _ := strings.Cut(verdict, ": ")
		sentences := of[plugin] // one that gains nothing is there as well
		if hookline[verdict].State == "passed" && stock[verdict].State != "passed" {
			sentences = append(sentences, sentence)
		}
		of[plugin] = sentences
	}
	for _, plugin := range slices.Sorted(maps.Keys(of)) {
		i := slices.IndexFunc(all, func(g gain) bool { return slices.Equal(g.sentences, of[plugin]) })
		if i < 0 {
			all = append(all, gain{sentences: of[plugin]})
			i = len(all) - 1
		}
		all[i].plugins = append(all[i].plugins, plugin)
	}
	return all
}

// writePlugins records the results.
func writePlugins(file string, runtimes map[string]string, results map[string]suites.Results) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# NRI plugins of others\n\nUnmodified, side by side, as `make plugins PLUGINS=\"--write %s\"` made it.\n\n", file)
	fmt.Fprintln(&b, "| | runtime | passed | failed |\n|---|---|---|---|")
	for _, side := range sides {
		r := results[side]
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", side, version(runtimes[side]), r.Count("passed"), r.Count("failed"))
	}
	fmt.Fprint(&b, "\nWhat holds on hookline and not on stock:\n\n| plugin | |\n|---|---|\n")
	for _, g := range gains(results["stock"], results["hookline"]) {
		holds := strings.Join(g.sentences, "<br>")
		if holds == "" {
			holds = "nothing: all holds on both"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(g.plugins, "<br>"), holds)
	}
	fmt.Fprint(&b, "\nAll that was asked:\n\n")
	if err := suites.Table(&b, results["stock"], results["hookline"]); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}
