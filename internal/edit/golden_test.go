// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata")

// TestEdits runs the archives in testdata. Each holds
//   - a comment that says what it shows; if it begins with "crlf:", the upstream
//     files have CRLF, and so must the results
//   - edit: the patch, one Go expression a line
//   - upstream files by their path, and this repository's below own/
//   - the result: either the changed files below want/, or error.
func TestEdits(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, file := range archives {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			require.NoError(t, err)
			c := readCase(t, ar)
			want, have := c.want, c.run(t)
			if *update {
				ar.Files = append(c.given, have...)
				require.NoError(t, os.WriteFile(file, txtar.Format(ar), 0o666))
				return
			}
			if diff := cmp.Diff(text(want), text(have)); diff != "" {
				t.Errorf("%s (-want +have):\n%s\nIf this is right: go test ./internal/edit -run 'TestEdits/^%s$' -update", file, diff, name)
			}
		})
	}
}

type testCase struct {
	crlf          bool
	patch         Patch
	upstream, own fstest.MapFS
	given, want   []txtar.File // as they are in the archive
}

func readCase(t *testing.T, ar *txtar.Archive) testCase {
	require.NotEmpty(t, strings.TrimSpace(string(ar.Comment)), "say what the archive shows")
	c := testCase{
		crlf:     bytes.HasPrefix(ar.Comment, []byte("crlf:")),
		upstream: fstest.MapFS{},
		own:      fstest.MapFS{"go.mod": {Data: []byte("module example.org/ours\n")}},
	}
	for _, f := range ar.Files {
		if f.Name == "error" || strings.HasPrefix(f.Name, "want/") {
			c.want = append(c.want, f)
			continue
		}
		c.given = append(c.given, f)
		if ours, ok := strings.CutPrefix(f.Name, "own/"); ok {
			c.own[ours] = &fstest.MapFile{Data: f.Data}
		} else if f.Name == "edit" {
			c.patch = readPatch(t, string(f.Data))
		} else {
			c.upstream[f.Name] = &fstest.MapFile{Data: withCRLF(c.crlf, f.Data)}
		}
	}
	return c
}

// run applies the patch to module "app", which may use module "lib".
func (c testCase) run(t *testing.T) []txtar.File {
	series := Series{
		Modules: []Module{{"lib", "example.org/lib"}, {"app", "example.org/app/v2"}, {"tool", "example.org/tool"}},
		Patches: []Patch{
			{Slug: "before", Module: "app", Packages: []Package{{From: "earlier", To: "internal/earlier"}}},
			{Slug: c.patch.Slug, Module: "lib"}, // another patch, with the same slug
			c.patch,
			{Slug: "after", Module: "app", Packages: []Package{{From: "later", To: "internal/later"}}},
			{Slug: "in-lib", Module: "lib", Packages: []Package{{From: "lower", To: "pkg/lower"}}},
			{Slug: "in-tool", Module: "tool", Packages: []Package{{From: "upper", To: "upper"}}},
		},
	}
	changed, err := c.patch.Apply(series, c.upstream, c.own)
	if err != nil {
		require.Nil(t, changed, "files with an error")
		return []txtar.File{{Name: "error", Data: []byte(err.Error() + "\n")}}
	}
	var have []txtar.File
	for name, data := range changed {
		if data == nil {
			have = append(have, txtar.File{Name: "want/" + name + " removed"})
			continue
		}
		shown, crs := plain(data)
		if c.crlf {
			require.Len(t, crs, bytes.Count(shown, []byte("\n")), "lines of %s with CRLF", name)
		}
		// The notice is long and always the same: TestBroughtFilesCarryTheNotice.
		shown = bytes.Replace(shown, []byte(notice), []byte("/* notice */\n"), 1)
		have = append(have, txtar.File{Name: "want/" + name, Data: shown})
	}
	slices.SortFunc(have, func(a, b txtar.File) int { return strings.Compare(a.Name, b.Name) })
	return have
}

func withCRLF(crlf bool, data []byte) []byte {
	if !crlf {
		return data
	}
	return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
}

func text(files []txtar.File) string { return string(txtar.Format(&txtar.Archive{Files: files})) }
