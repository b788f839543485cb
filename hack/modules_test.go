// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// public are the modules for plugin authors, each with an example plugin that uses it.
var public = map[string]string{
	"plugin":       "integration/example/keeper",
	"podresources": "integration/example/sizes",
	"podstate":     "integration/example/keeper",
	"updates":      "integration/example/share",
}

func goMod(t *testing.T, folder string) *modfile.File {
	t.Helper()
	name := filepath.Join("..", folder, "go.mod")
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	file, err := modfile.Parse(name, content, nil)
	require.NoError(t, err)
	return file
}

func required(t *testing.T, file *modfile.File, path string) string {
	t.Helper()
	for _, r := range file.Require {
		if r.Mod.Path == path {
			return r.Mod.Version
		}
	}
	t.Fatalf("%s does not require %s", file.Syntax.Name, path)
	return ""
}

// docs/plugins.md has the lowest versions that the modules allow.
func TestDocumentedLowestVersions(t *testing.T) {
	text, err := os.ReadFile("../docs/plugins.md")
	require.NoError(t, err)
	for name := range public {
		file := goMod(t, name)
		row := fmt.Sprintf("| `%s` | %s | %s |", name, strings.TrimSuffix(file.Go.Version, ".0"), required(t, file, "github.com/containerd/nri"))
		require.Contains(t, string(text), row)
	}
}

// A plugin can require the modules as docs/plugins.md describes, once they have a tag, beside the
// NRI of this repository. It builds, and needs neither this repository nor containerd.
func TestDocumentedRequire(t *testing.T) {
	text, err := os.ReadFile("../docs/plugins.md")
	require.NoError(t, err)
	proxy := t.TempDir()
	env := authorsGo(t, proxy)
	for name := range public {
		publish(t, proxy, name)
	}
	for name, example := range public {
		t.Run(name, func(t *testing.T) {
			get := regexp.MustCompile(`(?m)^go (get ` + modulePath + "/" + name + `@\S+)$`).FindSubmatch(text)
			require.NotNil(t, get, "docs/plugins.md does not say how to get %s", name)
			author := t.TempDir()
			require.NoError(t, os.CopyFS(author, os.DirFS(filepath.Join("..", example))))
			authors := func(args ...string) string {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), "go", args...)
				cmd.Dir, cmd.Env = author, env
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "go %s: %s", strings.Join(args, " "), out)
				return string(out)
			}
			authors("mod", "init", "example.com/plugin")
			authors(strings.Fields(string(get[1]))...)
			authors("get", "github.com/containerd/nri@"+required(t, goMod(t, "."), "github.com/containerd/nri"))
			authors("mod", "tidy")
			authors("build", "-o", filepath.Join(t.TempDir(), "plugin"), ".")
			modules := authors("list", "-m", "all")
			require.Contains(t, modules, modulePath+"/"+name+" v0.1.0\n")
			require.NotContains(t, modules, modulePath+" ")
			require.NotContains(t, modules, "github.com/containerd/containerd")
		})
	}
}

// publish puts a module where the go command looks for it, like a tag of this tree.
func publish(t *testing.T, proxy, name string) {
	t.Helper()
	version := module.Version{Path: modulePath + "/" + name, Version: "v0.1.0"}
	folder := filepath.Join(proxy, version.Path, "@v")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	mod, err := os.ReadFile(filepath.Join("..", name, "go.mod"))
	require.NoError(t, err)
	for file, content := range map[string]string{
		"list":                    version.Version + "\n",
		version.Version + ".info": fmt.Sprintf("{%q: %q}", "Version", version.Version),
		version.Version + ".mod":  string(mod),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(content), 0o644))
	}
	archive, err := os.Create(filepath.Join(folder, version.Version+".zip"))
	require.NoError(t, err)
	require.NoError(t, zip.CreateFromDir(archive, version, filepath.Join("..", name)))
	require.NoError(t, archive.Close())
}

// authorsGo returns the environment of a go command that first looks for modules in proxy. It has
// its own cache, so that no other build takes the published modules for a release.
func authorsGo(t *testing.T, proxy string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	of := strings.Fields(string(out))
	env := append(os.Environ(), "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0",
		"GOMODCACHE="+t.TempDir(), "GOPROXY=file://"+proxy+",file://"+of[0]+"/cache/download,"+of[1])
	return env
}
