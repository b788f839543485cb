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
//	nri/engine-ledger       some of its files, without handOver, owedEnds, requiredPlugins
//	nri/lifecycle-engine    without handOver, owedEnds, requiredPlugins
//	nri/engine-required     without handOver, owedEnds
//	nri/engine-owed-ends    without handOver
//	nri/engine-hand-over    all of it
//
// A change of the engine that touches what is cut needs the cut changed, too. See what a
// stage comes to with hack diff.

// engine is where the engine is upstream.
const engine = "internal/lifecycle/"

// A feature is a part of the engine that comes later than the engine.
type feature struct {
	files []string    // its own
	cuts  []edit.Edit // which take it out of the others
}

// engineWithout brings the engine without features, the latest of them first.
func engineWithout(features ...feature) edit.Package {
	// They need Go 1.25 and modules that NRI does not require.
	except := []string{"*_test.go", "testdata"}
	for _, f := range features {
		except = append(except, f.files...)
	}
	return edit.Package{From: "internal/nri/lifecycle", To: strings.TrimSuffix(engine, "/"), Except: except}
}

// engineAgain does so where it is there with even less.
func engineAgain(features ...feature) edit.Package {
	p := engineWithout(features...)
	p.Again = true
	return p
}

// cutOut takes features out of the engine, the latest of them first. What one changes in
// the files of another is not there to be cut if that one is not.
func cutOut(features ...feature) (cuts []edit.Edit) {
	for i, f := range features {
		for _, e := range f.cuts {
			owned := func(by feature) bool { return slices.Contains(by.files, path.Base(e.Path())) }
			if !slices.ContainsFunc(features[i:], owned) {
				cuts = append(cuts, e)
			}
		}
	}
	return cuts
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
