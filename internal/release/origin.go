// SPDX-License-Identifier: Apache-2.0

package release

import (
	"encoding/json"
	"os"
	"time"
)

// Origin names the sources of a release.
type Origin struct {
	Version   string     `json:"version"`  // v2.4.2+hookline.1
	Revision  string     `json:"revision"` // of the patch set, as in the binaries
	Commit    string     `json:"commit"`   // of the repository that has the patch set
	Time      time.Time  `json:"time"`     // of the commit
	Go        string     `json:"go"`       // version of the go command
	Platforms []Compiler `json:"platforms"`
	Modules   []Module   `json:"modules"`
}

// Compiler is the C compiler for a platform, and the libc that it links statically.
type Compiler struct {
	Arch     string `json:"arch"`
	Compiler string `json:"compiler"` // its name and version
	Libc     string `json:"libc"`     // glibc's version
}

// Module is a module that was patched.
type Module struct {
	Path    string  `json:"path"`
	Version string  `json:"version"` // upstream's
	Sum     string  `json:"sum"`     // as in go.sum
	Base    string  `json:"base"`    // commit of the pristine module
	Patches []Patch `json:"patches"`
}

// Patch is a patch of a module, and its commit.
type Patch struct {
	Name   string `json:"name"`
	Commit string `json:"commit"`
}

// tip returns the last commit of a module.
func (m Module) tip() string {
	if n := len(m.Patches); n > 0 {
		return m.Patches[n-1].Commit
	}
	return m.Base
}

// write writes the origin as JSON.
func (o Origin) write(name string) error {
	content, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(content, '\n'), 0o644)
}
