// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

const (
	containerdModule = "github.com/containerd/containerd/v2"
	nriModule        = "github.com/containerd/nri"
	cniModule        = "github.com/containerd/go-cni"
)

// versionContent lists the releases of containerd that the series is kept on: that of go.mod,
// and those of hack/targets, which take the libraries of go.mod where they pin none.
func versionContent(r Repository) (content, error) {
	newest, err := required(filepath.Join(r.Root, "go.mod"))
	if err != nil {
		return content{}, err
	}
	others, err := filepath.Glob(filepath.Join(r.Root, "hack", "targets", "*", "go.mod"))
	if err != nil {
		return content{}, err
	}
	var b strings.Builder
	var c content
	add := func(version, target string, with map[string]string) {
		libraries := fmt.Sprintf("NRI %s, go-cni %s", with[nriModule], with[cniModule])
		b.WriteString(line(version, libraries, "`make build"+target+"`", "`make test"+target+"`"))
		c.rows = append(c.rows, row{key: version, about: "containerd " + version})
	}
	b.WriteString(line("containerd", "with", "build", "test") + "|---|---|---|---|\n")
	add(newest[containerdModule], "", newest)
	for _, file := range others {
		pinned, err := required(file)
		if err != nil {
			return content{}, err
		}
		for _, library := range []string{nriModule, cniModule} {
			if pinned[library] == "" {
				pinned[library] = newest[library]
			}
		}
		version := pinned[containerdModule]
		add(version, " TARGET="+version, pinned)
	}
	c.text = b.String()
	return c, nil
}

// required are the modules that a go.mod requires, with their versions.
func required(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, m := range mod.Require {
		versions[m.Mod.Path] = m.Mod.Version
	}
	return versions, nil
}
