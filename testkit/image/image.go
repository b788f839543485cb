// SPDX-License-Identifier: Apache-2.0

// Package image makes images of a single static program, as OCI layouts. The image of the tests is
// built from testkit/pause. No registry is needed.
package image

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// Name is the name of the image in containerd.
const Name = "localhost/hookline/pause:1"

// nameAnnotation gives containerd's import the full name of an image in a layout.
const nameAnnotation = "io.containerd.image.name"

const program = "github.com/hookline-nri/hookline/testkit/pause"

// BuildProgram builds the program of the image as a static binary. It runs go in the current
// directory, which must belong to this module.
func BuildProgram(ctx context.Context, to string) error { return Build(ctx, to, program) }

// Build builds another program of this module in the same way.
func Build(ctx context.Context, to, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", to, program)
	// The program must not become a race or coverage build because the caller is one.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOOS=linux")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", program, err, bytes.TrimSpace(out))
	}
	return nil
}

// Write writes the image of the tests with the given program.
func Write(w io.Writer, program []byte) error {
	return Image{Name: Name, Path: "/pause", Program: program}.Write(w)
}

// Image is a root file system that has only a static program, and starts it.
type Image struct {
	Name    string // in full: registry, repository and tag
	Path    string // of the program in the image
	Program []byte
}

// Write writes the image as an OCI layout, in tar form.
func (i Image) Write(w io.Writer) error {
	layout := layout{tar: tar.NewWriter(w)}
	rootfs, err := i.layer()
	if err != nil {
		return fmt.Errorf("make layer: %w", err)
	}
	platform := v1.Platform{Architecture: runtime.GOARCH, OS: "linux"}
	layerDesc := layout.blob(v1.MediaTypeImageLayer, rootfs)
	configDesc := layout.document(v1.MediaTypeImageConfig, v1.Image{
		Platform: platform,
		Config: v1.ImageConfig{
			Entrypoint: []string{i.Path},
			Env:        i.env(),
			WorkingDir: "/",
		},
		RootFS: v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{layerDesc.Digest}},
	})
	manifest := layout.document(v1.MediaTypeImageManifest, v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: v1.MediaTypeImageManifest,
		Config:    configDesc,
		Layers:    []v1.Descriptor{layerDesc},
	})
	manifest.Platform = &platform
	manifest.Annotations = map[string]string{nameAnnotation: i.Name}
	layout.json(v1.ImageIndexFile, v1.Index{
		Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: v1.MediaTypeImageIndex,
		Manifests: []v1.Descriptor{manifest},
	})
	layout.json(v1.ImageLayoutFile, v1.ImageLayout{Version: v1.ImageLayoutVersion})
	return layout.close()
}

// env returns a PATH in which the program can be found.
func (i Image) env() []string {
	if folder := path.Dir(i.Path); folder != "/" {
		return []string{"PATH=" + folder}
	}
	return nil
}

// layer returns the root file system.
func (i Image) layer() ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	if err := w.WriteHeader(&tar.Header{Name: strings.TrimPrefix(i.Path, "/"), Mode: 0o755, Size: int64(len(i.Program)), Format: tar.FormatPAX}); err != nil {
		return nil, err
	}
	if _, err := w.Write(i.Program); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// layout writes the files of an OCI layout, and keeps the first error.
type layout struct {
	tar *tar.Writer
	err error
}

func (l *layout) file(name string, content []byte) {
	if l.err != nil {
		return
	}
	if l.err = l.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); l.err == nil {
		_, l.err = l.tar.Write(content)
	}
}

func (l *layout) blob(mediaType string, content []byte) v1.Descriptor {
	desc := v1.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
	l.file("blobs/"+desc.Digest.Algorithm().String()+"/"+desc.Digest.Encoded(), content)
	return desc
}

func (l *layout) encode(document any) []byte {
	content, err := json.Marshal(document)
	if l.err == nil {
		l.err = err
	}
	return content
}

func (l *layout) document(mediaType string, document any) v1.Descriptor {
	return l.blob(mediaType, l.encode(document))
}

func (l *layout) json(name string, document any) { l.file(name, l.encode(document)) }

func (l *layout) close() error {
	if l.err != nil {
		return fmt.Errorf("write image layout: %w", l.err)
	}
	return l.tar.Close()
}
