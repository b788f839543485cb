// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// A Rung is the series up to one of its groups, and which cases of the conformance test pass
// with it.
type Rung struct {
	Name  string `json:"name"`  // of the group, or one of the two below
	State string `json:"state"` // of its code: it changes only with that
	// Passed and Failed are cases by name. Cases that are in neither do not apply to it.
	Passed []string `json:"passed"`
	Failed []string `json:"failed"`
}

// The first rungs of the ladder.
const (
	released = "released" // containerd as it is released
	newest   = "newest"   // the same with the libraries that the patches are made for
)

// Rungs returns the names of the rungs of a series, in order.
func Rungs(s edit.Series) []string {
	all := []string{released, newest}
	for _, g := range s.Groups {
		all = append(all, g.Name())
	}
	return all
}

// ReadLadder reads the recorded rungs. Without such a file it returns none.
func ReadLadder(file string) (rungs []Rung, err error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, &rungs); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rungs, nil
}

// ladderContent has a line for each rung: the cases that pass or fail from it on.
func ladderContent(r Repository, p Pages) (c content, err error) {
	rungs, err := ReadLadder(filepath.Join(r.Root, p.Ladder))
	if err != nil {
		return c, err
	}
	rungs, c.problems = climbed(r.Series, rungs)
	var b strings.Builder
	b.WriteString(line("pull request", "lines", "pass", "pass now", "fail now") + "|---|---|---|---|---|\n")
	var before Rung
	for i, g := range rungs {
		lines := ""
		if i > 1 {
			lines = fmt.Sprint(r.Sizes[g.Name].Code)
		}
		c.rows = append(c.rows, row{key: rungName(p, r.Series, g), about: "rung " + g.Name})
		if g.State == "" {
			b.WriteString(line(rungName(p, r.Series, g), lines, "not run yet", "", ""))
			continue
		}
		now, lost := list(Turned(before.Failed, g.Passed)), list(Turned(before.Passed, g.Failed))
		b.WriteString(line(rungName(p, r.Series, g), lines, of(g), now, lost))
		before = g
	}
	c.text = b.String()
	return c, nil
}

// summaryContent has the first rung of the ladder, the last one, and the last one of the core.
func summaryContent(r Repository, p Pages) (c content, err error) {
	rungs, err := ReadLadder(filepath.Join(r.Root, p.Ladder))
	if err != nil {
		return c, err
	}
	if rungs, c.problems = climbed(r.Series, rungs); len(c.problems) > 0 {
		return c, nil
	}
	last := 1 + len(r.Series.Core().Groups)
	type mark struct {
		name  string
		lines int
		rung  Rung
	}
	core, whole := 0, 0
	for i, g := range rungs {
		lines := r.Sizes[g.Name].Code
		if whole += lines; i <= last {
			core += lines
		}
	}
	marks := []mark{{"as released", 0, rungs[0]}, {"with the core", core, rungs[last]}}
	if end := rungs[len(rungs)-1]; end.State != "" {
		marks = append(marks, mark{"with the whole series", whole, end})
	}
	var b strings.Builder
	most := 0
	for _, l := range marks {
		most = max(most, applicable(l.rung))
	}
	b.WriteString(line("containerd", "lines changed", "cases that pass", "unsupported") + "|---|---|---|---|\n")
	for _, l := range marks {
		b.WriteString(line(l.name, fmt.Sprint(l.lines), fmt.Sprintf("%d of %d", len(l.rung.Passed), most), fmt.Sprint(most-applicable(l.rung))))
		c.rows = append(c.rows, row{key: l.name, about: "rung " + l.rung.Name})
	}
	c.text = b.String()
	return c, nil
}

// climbed returns the rungs of the series, without a state if they are not recorded, as a new pull
// request. It returns an error unless the whole core is recorded, and one for each case that fails
// with a group and passed before it.
func climbed(s edit.Series, recorded []Rung) (rungs []Rung, errs []error) {
	var before Rung
	for _, name := range Rungs(s) {
		i := slices.IndexFunc(recorded, func(r Rung) bool { return r.Name == name })
		if i < 0 {
			rungs = append(rungs, Rung{Name: name})
			continue
		}
		rungs = append(rungs, recorded[i])
		if lost := Turned(before.Passed, recorded[i].Failed); len(lost) > 0 {
			errs = append(errs, fmt.Errorf("the ladder: %s fails with %s and passes before it", strings.Join(lost, ", "), name))
		}
		before = recorded[i]
	}
	core := rungs[:len(Rungs(s.Core()))]
	if slices.ContainsFunc(core, func(r Rung) bool { return r.State == "" }) {
		errs = append(errs, errors.New("the ladder is not that of the series: run ladder"))
	}
	return rungs, errs
}

// Turned returns the cases that are in both lists: those of the former state, and of the new one.
func Turned(was, is []string) (both []string) {
	for _, name := range was {
		if slices.Contains(is, name) {
			both = append(both, name)
		}
	}
	return both
}

func rungName(p Pages, s edit.Series, g Rung) string {
	switch g.Name {
	case released:
		return "none: containerd as released"
	case newest:
		return "none: with the NRI and go-cni that the patches are made for"
	}
	group, err := s.Group(g.Name)
	if err != nil { // climbed has none of these
		return g.Name
	}
	return linked(p.Groups, group)
}

func of(g Rung) string { return fmt.Sprintf("%d of %d", len(g.Passed), applicable(g)) }

// applicable is how many cases passed or failed.
func applicable(g Rung) int { return len(g.Passed) + len(g.Failed) }
