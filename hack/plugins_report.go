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

// pluginsIntro says what the plugins are.
const pluginsIntro = `# NRI plugins of others

Side by side, as %s made it. What is asked is in
[integration/others](../integration/others), and how each is built in [hack/tools/plugins](../hack/tools/plugins).

- memory-policy of nri-plugins is built from its module as it is.
- NVIDIA's CDI plugin and dranet are their packages, in a program of ours that starts them. That of dranet also does
  the part of the kubelet, with the stand-in for an API server that client-go brings.
- NRI's stub is what all plugins in Go are built on. With each version of it a program of ours is built, which writes
  down the events and adds a device to containers.

Left out:
`

// pluginsLeftOut are plugins that were wanted, by the reason.
var pluginsLeftOut = []struct{ plugins, why string }{
	{"NRI's own logger, device-injector, hook-injector, ulimit-adjuster and network-device-injector",
		"each is a module of its own in NRI's repository that has no release, and the commits that were tried could not be had as modules"},
	{"topology-aware and balloons of nri-plugins",
		"they import a module of their own repository that has no release, by a replacement that holds in a clone alone, so that they cannot be built from modules"},
	{"memory-qos of nri-plugins", "all that it sets needs cgroup v2"},
}

// writePlugins records the results.
func writePlugins(file string, runtimes map[string]string, results map[string]suites.Results) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, pluginsIntro, "`make plugins PLUGINS=\"--write "+file+"\"`")
	for _, l := range pluginsLeftOut {
		fmt.Fprintf(&b, "- %s: %s\n", l.plugins, l.why)
	}
	fmt.Fprintln(&b, "\n| | runtime | passed | failed |\n|---|---|---|---|")
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
