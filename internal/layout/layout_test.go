// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

var series = edit.Series{
	Modules: []edit.Module{{Name: "app", Path: "example.org/app"}},
	Patches: []edit.Patch{{Module: "app", Slug: "stop-first"}, {Module: "app", Slug: "network-gc"}},
}

const (
	stopFirst = "patches/app/stop_first.go"
	networkGC = "patches/app/network_gc.go"
	places    = "patches/app/places.go"
)

// sound is a repository in which all is where it belongs.
var sound = map[string]string{
	"patches/app/doc.go": "// Package app holds patches.\npackage app\n",
	places:               "package app\n\nimport \"example.org/edit\"\n\nconst run = \"run.go\"\n\nfunc in(path string) edit.Edit { return edit.In(path) }\n",
	stopFirst:            patch("StopFirst", "app", "stop-first", "in(run), edit.In(own)") + "\nconst own = \"own.go\"\n",
	networkGC:            patch("NetworkGC", "app", "network-gc", "edit.In(run)"),
	"patches/app/files/stop_first/server/stop.go": "package server\n",
}

func patch(value, module, slug, edits string) string {
	return "package app\n\nimport \"example.org/edit\"\n\nvar " + value + " = edit.Patch{\n\tModule: \"" + module +
		"\",\n\tSlug: \"" + slug + "\",\n\tEdits: slices.Concat([]edit.Edit{" + edits + "}),\n}\n"
}

func check(files map[string]string) error {
	repo := fstest.MapFS{}
	for name, content := range files {
		repo[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return Check(series, repo)
}

func TestSound(t *testing.T) { require.NoError(t, check(sound)) }

func TestMisplaced(t *testing.T) {
	for name, c := range map[string]struct {
		file, content string // "" removes the file
		want          []string
	}{
		"slug unlike its file": {
			networkGC, patch("NetworkCollect", "app", "network-collect", ""),
			[]string{"patches/app/network_gc.go: declares patch app/network-collect: want it in patches/app/network_collect.go"},
		},
		"value": {
			networkGC, patch("NetworkGc", "app", "network-gc", ""),
			[]string{"patches/app/network_gc.go: declares patch app/network-gc as NetworkGc: want NetworkGC"},
		},
		"module": {
			networkGC, patch("NetworkGC", "lib", "network-gc", ""),
			[]string{`patches/app/network_gc.go: patch "network-gc" is of module "lib": want that of its folder`},
		},
		"no file": {
			networkGC, "",
			[]string{"patches/app/network_gc.go: no such file: patch app/network-gc is to be declared there"},
		},
		"no patch in the file": {
			networkGC, "package app\n",
			[]string{"patches/app/network_gc.go: declares 0 patches, want one"},
		},
		"two in a file": {
			networkGC, patch("NetworkGC", "app", "network-gc", "") + "\nvar Other = edit.Patch{Slug: \"other\"}\n",
			[]string{"patches/app/network_gc.go: declares 2 patches, want one"},
		},
		"not in the series": {
			"patches/app/other.go", patch("Other", "app", "other", ""),
			[]string{"patches/app/other.go: patch app/other is not in the series"},
		},
		"folder without a patch": {
			"patches/app/files/stop_last/server/stop.go", "package server\n",
			[]string{"patches/app/files/stop_last: no patch of the series has this folder"},
		},
		"file in no folder": {
			"patches/app/files/stop_first.go", "package server\n",
			[]string{"patches/app/files/stop_first.go: no patch of the series has this folder"},
		},
		"place of another patch": {
			networkGC, patch("NetworkGC", "app", "network-gc", "edit.In(own), in(run)"),
			[]string{"patches/app/network_gc.go: uses own out of patches/app/stop_first.go: what several patches use belongs in patches/app/places.go"},
		},
		"patch of another file": {
			places, sound[places] + "\nfunc last() edit.Patch { return StopFirst }\n",
			[]string{"patches/app/places.go: uses StopFirst out of patches/app/stop_first.go: what several patches use belongs in patches/app/places.go"},
		},
		"no Go": {
			places, "package\n",
			[]string{"patches/app/places.go:1:9: expected 'IDENT', found 'EOF'"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(sound)
			files[c.file] = c.content
			if c.content == "" {
				delete(files, c.file)
			}
			require.EqualError(t, check(files), strings.Join(c.want, "\n"))
		})
	}
}

// A name of a function's own is not the one that another file declares.
func TestShadowed(t *testing.T) {
	files := maps.Clone(sound)
	files[networkGC] += "\nfunc f(own string) string { return own }\n"
	require.NoError(t, check(files))
}
