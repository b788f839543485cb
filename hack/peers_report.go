// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/integration/suites"
)

// peerTitles are the names of peers.
var peerTitles = map[string]string{"crio": "CRI-O", "moby": "moby"}

// writePeer records the results of a peer in a file of a folder. Each case that fails on both sides
// needs a reason.
func writePeer(folder, name string, results map[string]suites.Results) error {
	title := peerTitles[name]
	b := new(strings.Builder)
	fmt.Fprintf(b, "# %[1]s\n\n%[1]s with the released NRI and with the patched one, as\n"+
		"`make peers PEERS=\"--only %[2]s --write %[3]s\"` ran it.\n\n| | passed | failed | others |\n|---|---|---|---|\n", title, name, folder)
	for _, side := range peerSides {
		r := results[side]
		passed, failed := r.Count("passed"), r.Count("failed")
		fmt.Fprintf(b, "| %s | %d | %d | %d |\n", side, passed, failed, len(r)-passed-failed)
	}
	fmt.Fprint(b, "\n| case | released | patched | why it fails on both |\n|---|---|---|---|\n")
	var errs []error
	for _, c := range slices.Sorted(maps.Keys(results["released"])) {
		released, patched := results["released"][c], results["patched"][c]
		reason, err := reasonOf(name, c, released, patched)
		errs = append(errs, err)
		fmt.Fprintf(b, "| %s | %s | %s |%s |\n", c, outcome(released), outcome(patched), reason)
	}
	file := filepath.Join(folder, strings.ToLower(title)+".md")
	return errors.Join(append(errs, os.WriteFile(file, []byte(b.String()), 0o644))...)
}

// reasonOf says why a case passes on neither side, as the content of a cell.
func reasonOf(peer, name string, released, patched suites.Result) (string, error) {
	if released.State == "passed" || patched.State == "passed" {
		return "", nil
	}
	reason := peerReasons[peer][name]
	if released.State != "failed" {
		reason = cmp.Or(reason, released.Reason)
	}
	if reason == "" {
		return "", fmt.Errorf("%s: %s: the results are %s and %s, for no known reason", peer, name, released.State, patched.State)
	}
	return " " + reason, nil
}

// outcome returns the result of a case, with its measurements.
func outcome(r suites.Result) string {
	if r.State == "passed" && r.Reason != "" {
		return r.State + ": " + r.Reason
	}
	return r.State
}
