// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	goruntime "runtime"

	ggcr "github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/testkit/cri"
	"github.com/hookline-nri/hookline/testkit/image"
)

// program is the program in pods: this one, which acts as a pause under that name.
const program = "/proc/self/exe"

// WriteArchive writes the image as an archive for "ctr images import" and "podman load", for a
// runtime that cannot pull it from this program.
func WriteArchive(w io.Writer) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return image.Write(w, content)
}

// loadImage makes the runtime pull the image from a registry of our own on loopback. unload
// removes it.
func loadImage(ctx context.Context, socket string) (name string, unload func(context.Context) error, err error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
	go func() { _ = server.Serve(listener) }() // ends with Close
	defer func() { err = errors.Join(err, server.Close()) }()
	name = listener.Addr().String() + "/nri-conformance/pause:1"
	if err := push(ctx, name, content); err != nil {
		return "", nil, fmt.Errorf("put the image of the cases into a registry on loopback: %w", err)
	}
	client, err := cri.Dial(socket, name, "")
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	spec := &runtime.ImageSpec{Image: name}
	if _, err := client.Images.PullImage(ctx, &runtime.PullImageRequest{Image: spec}); err != nil {
		return "", nil, fmt.Errorf("have the runtime pull the image of the cases from loopback (or import it: --write-archive FILE, then --image %s): %w", image.Name, err)
	}
	return name, func(ctx context.Context) error {
		client, err := cri.Dial(socket, name, "")
		if err != nil {
			return err
		}
		_, err = client.Images.RemoveImage(ctx, &runtime.RemoveImageRequest{Image: spec})
		return errors.Join(err, client.Close())
	}, nil
}

// push writes the image to the registry in its name.
func push(ctx context.Context, name string, program []byte) error {
	ref, err := ggcr.ParseReference(name, ggcr.Insecure)
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Name: "pause", Mode: 0o755, Size: int64(len(program))}); err != nil {
		return err
	}
	if _, err := w.Write(program); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil })
	if err != nil {
		return err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", goruntime.GOARCH
	config.Config.Entrypoint = []string{"/pause"}
	if img, err = mutate.ConfigFile(img, config); err != nil {
		return err
	}
	return remote.Write(ref, img, remote.WithContext(ctx))
}
