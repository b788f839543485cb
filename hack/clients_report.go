// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/integration/clients"
)

// clientTitles are the headings of the clients' tests.
var clientTitles = map[string]string{"TestDocker": "docker", "TestNerdctl": "nerdctl", "TestCrictl": "crictl", "TestCtr": "ctr"}

// writeClients records the results of the flows.
func writeClients(ctx context.Context, file string, r clientRun, seen map[string]flows) error {
	versions, err := clientVersions(ctx, r)
	if err != nil {
		return err
	}
	b := new(strings.Builder)
	fmt.Fprintf(b, "# Clients\n\ndocker, nerdctl, crictl and ctr on both runtimes, as\n`make clients CLIENTS=\"--write %s\"` ran them: %s.\n\n", file, versions)
	fmt.Fprint(b, "A flow is a list of commands, each with its results: exit codes, states, events, and leftovers at the end.\n\n"+
		"| | runtime | flows passed | failed | observations |\n|---|---|---|---|---|\n")
	for _, side := range sides {
		count := 0
		for _, steps := range seen[side].observed {
			count += len(steps)
		}
		fmt.Fprintf(b, "| %s | %s | %d | %d | %d |\n", side, version(r.runtimes[side]), seen[side].results.Count("passed"), seen[side].results.Count("failed"), count)
	}
	stock, hookline := seen["stock"], seen["hookline"]
	client := ""
	for _, name := range slices.Sorted(maps.Keys(stock.results)) {
		test, flow, _ := strings.Cut(name, "/")
		if test != client {
			client = test
			fmt.Fprintf(b, "\n## %s\n\n| flow | stock | hookline | observations | left at the end | differences |\n|---|---|---|---|---|---|\n", clientTitles[test])
		}
		fmt.Fprintf(b, "| %s | %s | %s | %d | %s | %s |\n", strings.ReplaceAll(flow, "_", " "), stock.results[name].State, hookline.results[name].State,
			len(hookline.observed[name]), leftOnBoth(stock.observed[name], hookline.observed[name]), described(compare(stock.observed[name], hookline.observed[name])))
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// leftOnBoth returns the leftovers of a flow on both sides.
func leftOnBoth(stock, hookline []step) string {
	if left(stock) == left(hookline) {
		return left(stock)
	}
	return "differs"
}

// left returns the leftovers of a flow, its last observation.
func left(steps []step) string {
	if len(steps) == 0 {
		return "not observed"
	}
	what, found := strings.CutPrefix(steps[len(steps)-1].saw, "left: ")
	if !found {
		return "not observed"
	}
	return what
}

// described returns differences as a cell of a table, by their reason.
func described(differences []difference) string {
	if len(differences) == 0 {
		return "none"
	}
	lines := map[string][]string{}
	for _, d := range differences {
		lines[d.why] = append(lines[d.why], fmt.Sprintf("hookline %s, stock %s", quoted(d.hookline), quoted(d.stock)))
	}
	var cells []string
	for _, why := range slices.Sorted(maps.Keys(lines)) {
		cells = append(cells, cmp.Or(why, "no reason is known")+":<br>"+strings.Join(lines[why], "<br>"))
	}
	return strings.Join(cells, "<br>")
}

func quoted(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

// clientVersions returns the versions of the clients.
func clientVersions(ctx context.Context, r clientRun) (string, error) {
	docker, err := clients.Docker()
	if err != nil {
		return "", err
	}
	dockerd, err := clients.Dockerd()
	if err != nil {
		return "", err
	}
	said := make([]string, 0, 4)
	for _, program := range []string{docker, dockerd, filepath.Join(r.programs, "nerdctl")} {
		out, err := prints(ctx, r.out, program, "--version")
		if err != nil {
			return "", fmt.Errorf("%s --version: %w", program, err)
		}
		said = append(said, filepath.Base(program)+" "+versionIn(out))
	}
	crictl, err := listed(ctx, filepath.Join(r.root, "hack", "tools", "clients"), "{{.Version}}", "sigs.k8s.io/cri-tools")
	return strings.Join(append(said, "crictl "+crictl), ", "), err
}

// versionIn returns the word behind "version".
func versionIn(said string) string {
	_, behind, _ := strings.Cut(said, "version ")
	return strings.TrimRight(strings.Fields(behind + " unknown")[0], ",")
}
