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

// verdictsOf returns the verdicts among results, by plugin and sentence.
func verdictsOf(results suites.Results) suites.Results {
	verdicts := suites.Results{}
	for name, result := range results {
		if parts := strings.Split(name, "/"); len(parts) == 3 {
			verdicts[words(parts[1])+": "+words(parts[2])] = result
		}
	}
	return verdicts
}

// words returns a part of a test's name as it was written.
func words(part string) string { return strings.ReplaceAll(part, "_", " ") }

// A gain is a list of sentences that hold only on hookline, and the plugins for which they do.
type gain struct{ plugins, sentences []string }

// gains returns the gains in the order of the plugins. Plugins with the same sentences share one.
func gains(stock, hookline suites.Results) (all []gain) {
	of := map[string][]string{}
	for _, verdict := range slices.Sorted(maps.Keys(hookline)) {
		plugin, sentence, _ := strings.Cut(verdict, ": ")
		sentences := of[plugin] // empty for a plugin that gains nothing
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

// pluginsIntro describes the plugins.
const pluginsIntro = `# NRI plugins of other projects

Side by side, as %s made it. The checks are in
[integration/others](../integration/others), and the builds in [hack/tools/plugins](../hack/tools/plugins).

Other projects' plugins, unmodified:

- NRI's sample plugins logger, device-injector, hook-injector, network-device-injector and ulimit-adjuster, of the source
  of NRI v0.8.0 that Debian has. The version after each name is that of NRI, whose stub it is built with. logger is
  started with a variable to add to containers.
- memory-policy of nri-plugins, from its module.

Other projects' plugins, in a program of ours that starts them:

- NVIDIA's CDI plugin.
- dranet. The program also plays the kubelet, with client-go's stand-in for an API server.

Ours:

- a program over NRI's stub v0.3.0, which has another API than logger and device-injector need. It does the same.

Left out:
`

// leftOut are plugins that could not be built, and the reason.
type leftOut struct{ plugins, why string }

// pluginsLeftOut are left out everywhere.
var pluginsLeftOut = []leftOut{
	{"topology-aware and balloons of nri-plugins",
		"they import a module of their own repository that has no release, by a replacement that works only in a clone, so they cannot be built from modules"},
	{"memory-qos of nri-plugins", "all its settings need cgroup v2"},
	{"device-injector over NRI v0.6.1", "it adds CDI devices, which the API has had since v0.7.0"},
}

// writePlugins records the results.
func writePlugins(file string, runtimes map[string]string, results map[string]suites.Results, without []leftOut) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, pluginsIntro, "`make plugins PLUGINS=\"--write "+file+"\"`")
	for _, l := range slices.Concat(without, pluginsLeftOut) {
		fmt.Fprintf(&b, "- %s: %s\n", l.plugins, l.why)
	}
	fmt.Fprintln(&b, "\n| | runtime | passed | failed |\n|---|---|---|---|")
	for _, side := range sides {
		r := results[side]
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", side, version(runtimes[side]), r.Count("passed"), r.Count("failed"))
	}
	fmt.Fprint(&b, "\nThese hold on hookline and not on stock:\n\n| plugin | |\n|---|---|\n")
	for _, g := range gains(results["stock"], results["hookline"]) {
		holds := strings.Join(g.sentences, "<br>")
		if holds == "" {
			holds = "nothing: all holds on both"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(g.plugins, "<br>"), holds)
	}
	fmt.Fprint(&b, "\nAll checks:\n\n")
	if err := suites.Table(&b, results["stock"], results["hookline"]); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}
