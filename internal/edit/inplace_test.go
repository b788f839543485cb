// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"maps"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// All files of a pull request are in its folder, and no other file looks like one of them.
func TestInPlace(t *testing.T) {
	s := Assemble([]Module{{Name: "app"}}, Group{Folder: "patches/build", Patches: []Patch{{Module: "app", Slug: "patched-lib"}}},
		Group{Folder: "patches/pods/creation", Patches: []Patch{{Module: "app", Slug: "hook-last"}, {Module: "app", Slug: "hidden"}}})
	declares := func(slug string) string { return "package p\n\nvar It = edit.Patch{Slug: \"" + slug + "\"}\n" }
	repo := map[string]string{
		"docs/a.md":                                         "",
		"patches/series.go":                                 "package patches",
		"patches/build/group.go":                            "package build",
		"patches/build/patched_lib.go":                      declares("patched-lib"),
		"patches/places/app/places.go":                      "package app",
		"patches/pods/creation/group.go":                    "package creation",
		"patches/pods/creation/hook_last.go":                declares("hook-last"),
		"patches/pods/creation/hidden.go":                   declares("hidden"),
		"patches/pods/creation/files/hook_last/pkg/hook.go": "package pkg",
		"patches/pods/creation/pull.md":                     "# app: have the hook last\n\nWhy.\n",
	}
	const gone = "-"
	const unlisted = ": no patch has it: list it in group.go, and its pull request in patches/series.go"
	for name, c := range map[string]struct{ file, content, says string }{
		"as it should be":                  {"patches/doc.go", "", ""},
		"no list of the patches":           {"patches/pods/creation/group.go", gone, ": missing: the series needs this file"},
		"no text":                          {"patches/pods/creation/pull.md", gone, ": missing: the series needs this file"},
		"a text without a title":           {"patches/pods/creation/pull.md", "Why.\n", `: want a first line "# area: title" without a final dot`},
		"no patch":                         {"patches/pods/creation/hidden.go", gone, ": missing: the series needs this file"},
		"a file that declares none":        {"patches/pods/creation/hidden.go", "package p", `: declares the patches "", want "hidden" alone`},
		"a file that declares another":     {"patches/pods/creation/hidden.go", declares("shown"), `: declares the patches "shown", want "hidden" alone`},
		"a file that declares two":         {"patches/pods/creation/hidden.go", declares("hidden") + "var Two = edit.Patch{Slug: \"shown\"}", `: declares the patches "hidden, shown", want "hidden" alone`},
		"a file that is no Go":             {"patches/pods/creation/hidden.go", "pkg", ": 1:1: expected 'package', found pkg"},
		"a patch that is not listed":       {"patches/pods/creation/shown.go", declares("shown"), unlisted},
		"one that only builds, not listed": {"patches/build/patched_tool.go", declares("patched-tool"), unlisted},
		"a pull request not listed":        {"patches/pods/end/pull.md", "# app: end\n", unlisted},
		"one that is too high":             {"patches/pods/hook_last.go", declares("hook-last"), unlisted},
		"one that is too deep":             {"patches/pods/creation/more/hook_last.go", declares("hook-last"), unlisted},
		"files of no patch":                {"patches/pods/creation/files/shown/pkg/shown.go", "package pkg", unlisted},
		"files of a patch that is one":     {"patches/pods/creation/files/hidden", "package pkg", unlisted},
		"files for another name":           {"patches/pods/creation/file/hidden/hidden.go", "package pkg", unlisted},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(repo)
			files[c.file] = c.content
			if c.content == gone {
				delete(files, c.file)
			}
			tree := fstest.MapFS{}
			for name, content := range files {
				tree[name] = &fstest.MapFile{Data: []byte(content)}
			}
			err := s.InPlace(tree)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.file+c.says)
		})
	}
}
