// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/integration/suites"
)

// writePeers records the results. Whatever fails on both sides needs a reason.
func writePeers(file string, results map[string]map[string]suites.Results) error {
	var errs []error
	b := new(strings.Builder)
	fmt.Fprintf(b, "# CRI-O and moby with the patched NRI\n\nOther runtimes with NRI, each built with NRI as it is released and with the patched one in its place, as\n"+
		"`make peers PEERS=\"--write %s\"` ran them.\n", file)
	for _, name := range slices.Sorted(maps.Keys(results)) {
		fmt.Fprintf(b, "\n## %s\n\n| | passed | failed | others |\n|---|---|---|---|\n", peerTitles[name])
		for _, side := range peerSides {
			r := results[name][side]
			passed, failed := r.Count("passed"), r.Count("failed")
			fmt.Fprintf(b, "| %s | %d | %d | %d |\n", side, passed, failed, len(r)-passed-failed)
		}
		fmt.Fprint(b, "\n| case | released | patched | why it fails on both |\n|---|---|---|---|\n")
		released, patched := results[name]["released"], results[name]["patched"]
		for _, c := range slices.Sorted(maps.Keys(released)) {
			reason, err := reasonOf(name, c, released[c], patched[c])
			errs = append(errs, err)
			fmt.Fprintf(b, "| %s | %s | %s |%s |\n", c, outcome(released[c]), outcome(patched[c]), reason)
		}
	}
	return errors.Join(append(errs, os.WriteFile(file, []byte(b.String()), 0o644))...)
}

// reasonOf says why a case passes on neither side, as the content of a cell.
func reasonOf(peer, name string, released, patched suites.Result) (string, error) {
	if released.State == "passed" || patched.State == "passed" {
		return "", nil
	}
	reason := peerReasons[peer][name]
	if released.State != "failed" {
		reason = cmp.Or(released.Reason, reason)
	}
	if reason == "" {
		return "", fmt.Errorf("%s: %s came to %s and %s, and no reason is known", peer, name, released.State, patched.State)
	}
	return " " + reason, nil
}

// outcome is what came of a case, with what was measured.
func outcome(r suites.Result) string {
	if r.State == "passed" && r.Reason != "" {
		return r.State + ": " + r.Reason
	}
	return r.State
}

var peerTitles = map[string]string{"crio": "CRI-O", "moby": "moby"}
