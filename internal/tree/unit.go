// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Tests are the results of the tests of one module, by packages.
type Tests struct {
	Module                 string
	Passed, Cached, Failed int    // cached ones have passed too
	Untested               int    // packages without tests
	Ran, Skipped           int    // tests that passed, and that were skipped, without subtests
	Output                 string // of the packages that failed

	// Inherited are tests, "PACKAGE TEST", that fail in the module as published as well.
	Inherited []string
	// Unsteady are tests of the module as published, "PACKAGE TEST", that failed once, but
	// not when their package was run again.
	Unsteady []string

	failed map[string][]string // tests and subtests that failed, by package, sorted
}

// Test runs upstream's own unit tests in the patched trees: of the packages that the series
// touches, and of the patterns given by module. It fails if a test does, and returns the results
// of each module either way.
func (w *Workspace) Test(ctx context.Context, trees []Tree, tags []string, also map[string][]string) ([]Tests, error) {
	var results []Tests
	for _, t := range trees {
		patterns := slices.Clone(also[t.Name])
		for _, c := range t.Commits {
			touched, err := w.packages(ctx, t.Work, c, tags)
			if err != nil {
				return results, err
			}
			patterns = append(patterns, unitPackages(touched)...)
		}
		result, err := w.test(ctx, t, tags, patterns)
		if err != nil {
			return results, err
		}
		results = append(results, result)
	}
	return results, failed(results)
}

// TestOnly runs the tests of the given packages, patterns that start with a
// module's short name or its path: "nri/pkg/...".
func (w *Workspace) TestOnly(ctx context.Context, trees []Tree, tags, patterns []string) ([]Tests, error) {
	var results []Tests
	rest := slices.Clone(patterns)
	for _, t := range trees {
		var own []string
		rest = slices.DeleteFunc(rest, func(p string) bool {
			for _, prefix := range []string{t.Path, t.Name} {
				if below, ok := strings.CutPrefix(p+"/", prefix+"/"); ok {
					own = append(own, strings.TrimSuffix("./"+below, "/"))
					return true
				}
			}
			return false
		})
		if len(own) == 0 {
			continue
		}
		result, err := w.test(ctx, t, tags, own)
		if err != nil {
			return results, err
		}
		results = append(results, result)
	}
	if len(rest) > 0 {
		return results, fmt.Errorf("%s is in no module of the series: begin it with a module's name, as nri/pkg/... does", rest[0])
	}
	return results, failed(results)
}

func failed(results []Tests) error {
	for _, r := range results {
		if r.Failed > 0 {
			return fmt.Errorf("tests of %s fail", r.Module)
		}
	}
	return nil
}

func (w *Workspace) test(ctx context.Context, t Tree, tags, patterns []string) (Tests, error) {
	if len(patterns) == 0 {
		return Tests{Module: t.Name}, nil
	}
	end := w.Step(fmt.Sprintf("upstream's tests of %s %s with %d patches", t.Name, t.Version, len(t.Commits)))
	defer end()
	result, err := w.testIn(ctx, t.Work, tags, patterns)
	result.Module = t.Name
	if err != nil {
		return result, fmt.Errorf("tests of %s: %w", t.Name, err)
	}
	err = w.doubt(ctx, t, tags, &result)
	return result, err
}

// testIn runs go test in a folder, with further flags and patterns.
func (w *Workspace) testIn(ctx context.Context, dir string, tags, further []string) (result Tests, err error) {
	err = w.run(ctx, dir, tags, further, &result)
	// That a test failed is no error of ours; that none could be run is.
	if ctx.Err() != nil || (err != nil && result.Failed == 0) {
		return result, cause(ctx, err)
	}
	return result, nil
}

// packageTimeout ends the tests of a package, which take moments, if one of them hangs.
const packageTimeout = "5m"

// run runs the tests of packages in a folder, and counts them.
func (w *Workspace) run(ctx context.Context, dir string, tags, further []string, result *Tests) error {
	args := slices.Concat([]string{"test", "-json", "-timeout", packageTimeout}, tagsFlag(tags), further)
	out, in := io.Pipe()
	counted := make(chan error, 1)
	go func() {
		err := result.count(out)
		_, _ = io.Copy(io.Discard, out)
		counted <- err
	}()
	// Tests make sockets in their folders, whose paths may not be long.
	_, err := w.golangTo(ctx, dir, []string{"GOTMPDIR="}, in, args...)
	_ = in.Close()
	return errors.Join(err, <-counted)
}

// doubt checks for each package that failed whether the patches are the cause. The package has
// passed if the same tests fail in the module as published. It has also passed if only upstream's
// own tests failed, and none fails when the package is run again: the time limits of a few of them
// are too short for a busy machine. A test that a patch brings gets no second try.
func (w *Workspace) doubt(ctx context.Context, t Tree, tags []string, result *Tests) error {
	for _, from := range slices.Sorted(maps.Keys(result.failed)) {
		names := whole(result.failed[from])
		published, err := w.testIn(ctx, t.Dir, tags, []string{"-run", "^(" + strings.Join(names, "|") + ")$", from})
		if err != nil {
			return fmt.Errorf("tests of %s as published: %w", t.Name, err)
		}
		if slices.Equal(result.failed[from], published.failed[from]) {
			result.acquit(from, names, &result.Inherited)
			continue
		}
		if published.Ran < len(names) {
			continue
		}
		again, err := w.testIn(ctx, t.Work, tags, []string{from})
		if err != nil {
			return fmt.Errorf("tests of %s, once more: %w", t.Name, err)
		}
		if again.Failed == 0 {
			result.acquit(from, names, &result.Unsteady)
		}
	}
	if result.Failed == 0 {
		result.Output = ""
	}
	return nil
}

// whole returns the tests without their subtests.
func whole(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.Contains(name, "/") })
}

// acquit counts a package that failed as passed, and lists its tests that failed.
func (r *Tests) acquit(from string, names []string, list *[]string) {
	r.Failed, r.Passed = r.Failed-1, r.Passed+1
	for _, name := range names {
		*list = append(*list, from+" "+name)
	}
}

// count reads the stream of go test -json.
func (r *Tests) count(stream io.Reader) error {
	output := map[string]*said{}
	events := json.NewDecoder(stream)
	for {
		var e struct{ Action, Package, ImportPath, Test, Output string }
		if err := events.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("output of go test: %w", err)
		}
		from := e.Package
		if from == "" {
			from, _, _ = strings.Cut(e.ImportPath, " ")
		}
		if output[from] == nil {
			output[from] = &said{}
		}
		test, _, part := strings.Cut(e.Test, "/")
		if test != "" && e.Action == "fail" {
			r.fails(from, e.Test)
		}
		switch {
		case e.Action == "output" || e.Action == "build-output":
			output[from].add(test, e.Output)
		case test != "" && part: // a subtest counts with its test
		case test != "" && e.Action == "pass":
			r.Ran++
			output[from].drop(test)
		case test != "" && e.Action == "skip":
			r.Skipped++
			output[from].drop(test)
		case test != "":
		case e.Action == "pass":
			r.Passed++
			if strings.Contains(output[from].String(), "(cached)") {
				r.Cached++
			}
			delete(output, from)
		case e.Action == "skip":
			r.Untested++
			delete(output, from)
		case e.Action == "fail":
			r.Failed++
			r.Output += output[from].String()
		}
	}
}

// said is the output of a package, by test: if one fails, the output of those that pass is of no
// interest.
type said struct {
	tests []string // in the order of their first output; the package itself is ""
	lines map[string]string
}

func (s *said) add(test, line string) {
	if s.lines == nil {
		s.lines = map[string]string{}
	}
	if _, ok := s.lines[test]; !ok {
		s.tests = append(s.tests, test)
	}
	s.lines[test] += line
}

func (s *said) drop(test string) {
	if _, ok := s.lines[test]; ok {
		s.lines[test] = ""
	}
}

func (s *said) String() string {
	var b strings.Builder
	for _, test := range s.tests {
		b.WriteString(s.lines[test])
	}
	return b.String()
}

// fails notes that a test, or a subtest, failed.
func (r *Tests) fails(from, test string) {
	if r.failed == nil {
		r.failed = map[string][]string{}
	}
	r.failed[from] = append(r.failed[from], test)
	slices.Sort(r.failed[from])
}
