// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"path"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// The lifecycle engine comes upstream in stages, so that each can be reviewed: first
// without the features below, then with one more at a time, until it is what
// internal/nri/lifecycle is. Each feature says once what to cut out of the engine that has
// it and those before it: a stage is the engine without those that come later.
//
//	nri/engine-ledger        what a plugin knows, alone
//	nri/engine-connections   connections that come and go, with all below cut out
//	nri/lifecycle-engine     and turns
//	nri/engine-bounds        and bounds
//	nri/engine-inventories   and inventories
//	nri/engine-asking        and asking
//	nri/engine-creations     and creations
//	nri/engine-status        and engineStatus
//	nri/engine-required      and requiredPlugins
//	nri/engine-owed-ends     and owedEnds
//	nri/engine-hand-over     and handOver: all of it
//
// A change of the engine that touches what is cut needs the cut changed, too. See what a
// stage comes to with hack diff.

// engine is where the engine is upstream.
const engine = "internal/lifecycle/"

// A feature is a part of the engine that comes later than the engine.
type feature struct {
	by    string      // slug of the patch that brings it
	files []string    // its own
	cuts  []edit.Edit // which take it out of the others
}

// features are the parts that come later, the latest first.
var features = []feature{handOver, owedEnds, requiredPlugins, engineStatus, creations, asking, inventories, bounds, turns}

// later returns the features that come only after a patch.
func later(slug string) []feature {
	if i := slices.IndexFunc(features, func(f feature) bool { return f.by == slug }); i >= 0 {
		return features[:i]
	}
	return features
}

// engineAt brings the engine as a patch has it, over what is there of it already.
func engineAt(slug string) edit.Package {
	// They need Go 1.25 and modules that NRI does not require.
	except := []string{"*_test.go", "testdata"}
	for _, f := range later(slug) {
		except = append(except, f.files...)
	}
	return edit.Package{From: "internal/nri/lifecycle", To: strings.TrimSuffix(engine, "/"), Except: except, Again: true}
}

// cutsAt takes out of the engine what comes only after a patch, the latest feature
// first. What one changes in the files of another is not there to be cut if that one is
// not.
func cutsAt(slug string) (cuts []edit.Edit) {
	missing := later(slug)
	for i, f := range missing {
		for _, e := range f.cuts {
			owned := func(by feature) bool { return slices.Contains(by.files, path.Base(e.Path())) }
			if !slices.ContainsFunc(missing[i:], owned) {
				cuts = append(cuts, e)
			}
		}
	}
	return cuts
}

// cut takes the lines from one that is there once to the next that is as given, and
// indented as that, out of a file of the engine.
func cut(file, first, last string) edit.Edit { return swap(file, first, last, "") }

func cutLine(file, line string) edit.Edit { return swap(file, line, line, "") }

// swap replaces them. A newline before the text that takes their place does not count,
// and one at its end need not be given.
func swap(file, first, last, by string) edit.Edit {
	if by = strings.TrimPrefix(by, "\n"); by != "" && !strings.HasSuffix(by, "\n") {
		by += "\n"
	}
	return edit.OwnLines(engine+file, first, last, by)
}

// in leaves the edits of some files of the engine.
func in(edits []edit.Edit, files ...string) []edit.Edit {
	return slices.DeleteFunc(edits, func(e edit.Edit) bool { return !slices.Contains(files, path.Base(e.Path())) })
}

// without cuts text out of a file of the engine. A newline before it does not count.
func without(file, text string) edit.Edit { return instead(file, text, "") }

// instead replaces it.
func instead(file, text, by string) edit.Edit {
	return edit.OwnText(engine+file, strings.TrimPrefix(text, "\n"), strings.TrimPrefix(by, "\n"))
}
