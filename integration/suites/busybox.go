// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/google/go-containerregistry/pkg/name"
	ggcr "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Busybox is the name of the image in the archive that WriteBusybox writes.
const Busybox = "localhost/hookline/busybox:1"

// names are the names of busybox in the image.
var names = []string{"cat", "dd", "echo", "kill", "sh", "sleep", "tee", "true", "wc"}

// WriteBusybox writes an archive of an image that has only busybox, in docker's format, which
// docker, nerdctl and ctr load.
func WriteBusybox(to string, p Programs) error {
	program, err := fromRootfs(p.Rootfs, "bin/busybox")
	if err != nil {
		return err
	}
	content := []file{{name: "bin/busybox", text: string(program), mode: 0o755}, {name: "tmp/", mode: 0o1777}}
	for _, n := range names {
		content = append(content, file{name: "bin/" + n, link: "busybox"})
	}
	img, err := made{layers: []ggcr.Layer{files(content...)}, command: []string{"sh"}}.image()
	if err != nil {
		return err
	}
	tag, err := name.NewTag(Busybox)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(to, tag, img)
}

// fromRootfs reads a file of a root file system.
func fromRootfs(rootfs, name string) ([]byte, error) {
	f, err := os.Open(rootfs)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	for r := tar.NewReader(f); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s has no %s", rootfs, name)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", rootfs, err)
		}
		if path.Clean(header.Name) == name {
			return io.ReadAll(r)
		}
	}
}
