// SPDX-License-Identifier: Apache-2.0

package release

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/archive"
)

var when = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

// program builds a program that links a module, patched or not.
func program(t *testing.T, dir string) {
	t.Helper()
	src := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":           "module example.com/Hall\n\ngo 1.24\n\nrequire example.com/greet v1.0.0\n\nreplace example.com/greet => ./greet\n",
		"main.go":          "package main\n\nimport \"example.com/greet\"\n\nfunc main() { println(greet.Hello) }\n",
		"greet/go.mod":     "module example.com/greet\n\ngo 1.24\n",
		"greet/greet.go":   "package greet\n\nvar Hello = \"hello\"\n",
		"greet/unused.txt": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(src, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(src, name), []byte(content), 0o644))
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", filepath.Join(dir, "hall"), ".")
	build.Dir, build.Env = src, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func made(t *testing.T) (dir string, o Origin) {
	bin, series, dir := t.TempDir(), t.TempDir(), t.TempDir()
	program(t, bin)
	require.NoError(t, os.MkdirAll(filepath.Join(series, "greet"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(series, "greet", "0001-loudly.patch"), []byte("mail"), 0o600))
	report := filepath.Join(t.TempDir(), "report.json")
	require.NoError(t, os.WriteFile(report, []byte("{}"), 0o600))
	o = Origin{Version: "v1.0.0+hookline.1", Revision: "abc", Commit: "def", Time: when, Modules: []Module{
		{Path: "example.com/greet", Version: "v1.0.0", Sum: "h1:sum", Base: "base", Patches: []Patch{{"greet/loudly", "tip"}}},
	}}
	require.NoError(t, Write(dir, o, []Build{{Compiler: Compiler{Arch: "amd64", Libc: "2.36"}, Dir: bin, Program: filepath.Join(bin, "hall")}}, []string{"hall"}, series, archive.File{Name: "conformance.json", Mode: 0o644, From: report}))
	return dir, o
}

const whole = "containerd-static-1.0.0+hookline.1-linux-amd64"

func TestWrite(t *testing.T) {
	dir, _ := made(t)
	names, err := list(dir)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"SHA256SUMS", whole + ".spdx.json", whole + ".tar.gz", whole + ".tar.gz.sha256sum",
		"hall-1.0.0+hookline.1-linux-amd64", "hall-1.0.0+hookline.1-linux-amd64.spdx.json",
		"hookline-1.0.0+hookline.1-conformance.json", "hookline-1.0.0+hookline.1-origin.json", "hookline-1.0.0+hookline.1-series.tar.gz",
	}, names)
	for name, want := range map[string][]string{
		whole + ".tar.gz": {"bin/ 0755", "bin/hall 0755"},
		"hookline-1.0.0+hookline.1-series.tar.gz": {
			"hookline-1.0.0+hookline.1-series/ 0755", "hookline-1.0.0+hookline.1-series/greet/ 0755",
			"hookline-1.0.0+hookline.1-series/greet/0001-loudly.patch 0644",
		},
	} {
		assert.Equal(t, want, entries(t, filepath.Join(dir, name)))
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS", whole+".tar.gz.sha256sum")
	check.Dir = dir
	out, err := check.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, 9, strings.Count(string(out), ": OK\n"), "%s", out)
}

// entries lists an archive, and checks owner, time and mode of each entry.
func entries(t *testing.T, name string) []string {
	f, err := os.Open(name)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	packed, err := gzip.NewReader(f)
	require.NoError(t, err)
	var found []string
	for r := tar.NewReader(packed); ; {
		header, err := r.Next()
		if err == io.EOF {
			return found
		}
		require.NoError(t, err)
		assert.Equal(t, when, header.ModTime.UTC())
		assert.Zero(t, header.Uid)
		assert.Empty(t, header.Uname)
		found = append(found, fmt.Sprintf("%s %#o", header.Name, header.Mode))
	}
}

func TestSBOM(t *testing.T) {
	dir, _ := made(t)
	f, err := os.Open(filepath.Join(dir, whole+".spdx.json"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	doc, err := json.Read(f)
	require.NoError(t, err)
	assert.Equal(t, "SPDX-2.3", doc.SPDXVersion)
	assert.Equal(t, "2026-05-01T10:00:00Z", doc.CreationInfo.Created)
	locators := map[string]string{}
	for _, p := range doc.Packages {
		for _, r := range p.PackageExternalReferences {
			locators[p.PackageName+" "+p.PackageVersion] = r.Locator
		}
	}
	assert.Equal(t, "pkg:golang/example.com/greet@v1.0.0", locators["example.com/greet v1.0.0"])
	assert.Equal(t, "pkg:golang/example.com/greet@v1.0.0", locators["example.com/greet v1.0.0+hookline.1"])
	assert.Len(t, locators, 4, "the module itself and the standard library besides: %v", locators)
	relations := map[string]string{}
	for _, r := range doc.Relationships {
		relations[string(r.RefA.ElementRefID)+" "+r.Relationship+" "+string(r.RefB.ElementRefID)] = ""
	}
	for _, want := range []string{
		"DOCUMENT DESCRIBES Package-archive", "Package-archive CONTAINS File-hall",
		"File-hall STATIC_LINK Module-example.com-greet-v1.0.0-hookline.1",
		"Module-example.com-greet-v1.0.0-hookline.1 DESCENDANT_OF Module-example.com-greet-v1.0.0",
	} {
		assert.Contains(t, relations, want)
	}
}

func TestCompare(t *testing.T) {
	one, _ := made(t)
	other, o := made(t)
	n, err := Compare(one, other)
	require.NoError(t, err)
	assert.Equal(t, 9, n)

	name := filepath.Join(other, "hookline-1.0.0+hookline.1-origin.json")
	o.Revision = "other"
	require.NoError(t, o.write(name))
	_, err = Compare(one, other)
	require.ErrorContains(t, err, "origin.json differs")
	require.NoError(t, os.Remove(name))
	_, err = Compare(one, other)
	require.Error(t, err)
	_, err = Compare(t.TempDir(), t.TempDir())
	require.ErrorContains(t, err, "is empty")
}

func TestRun(t *testing.T) {
	dir, _ := made(t)
	bin := t.TempDir()
	require.NoError(t, archive.Unpack(filepath.Join(dir, whole+".tar.gz"), bin))
	require.NoError(t, Run(t.Context(), nil, bin, []Start{{Args: []string{"hall"}}}))
	require.ErrorContains(t, Run(t.Context(), nil, bin, []Start{{Args: []string{"hall"}, Says: []string{"v1.0.0"}}}), `its output lacks "v1.0.0"`)
	require.ErrorContains(t, Run(t.Context(), nil, bin, []Start{{Args: []string{"hall"}, TOML: true}}), "its output is empty")
	require.ErrorContains(t, Run(t.Context(), []string{"false"}, bin, []Start{{Args: []string{"hall"}}}), "exit status 1")
	_, err := Runner("no-such-arch")
	require.ErrorContains(t, err, "nothing emulates no-such-arch")
	t.Setenv("PATH", t.TempDir())
	for arch, emulator := range qemu {
		if runner, err := Runner(arch); runner != nil || err != nil {
			require.ErrorContains(t, err, "no "+emulator+" on the PATH")
		}
	}
}
