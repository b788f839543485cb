// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/hookline-nri/hookline/testkit/node"
)

// Registry holds the images of the suites, for any number of nodes.
type Registry struct{ http.Handler }

// NewRegistry makes the images.
func NewRegistry(ctx context.Context, p Programs) (_ Registry, retErr error) {
	r := Registry{registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
	all, err := images(p)
	if err != nil {
		return r, fmt.Errorf("make the images of the suites: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return r, err
	}
	stop := r.serve(listener)
	defer func() { retErr = errors.Join(retErr, stop()) }()
	for path, img := range all {
		ref, err := name.ParseReference(listener.Addr().String()+"/"+path, name.Insecure)
		if err != nil {
			return r, err
		}
		if err := remote.Write(ref, img, remote.WithContext(ctx)); err != nil {
			return r, fmt.Errorf("put %s into a registry on loopback: %w", path, err)
		}
	}
	return r, nil
}

func (r Registry) serve(l net.Listener) (stop func() error) {
	server := &http.Server{Handler: r}
	go func() { _ = server.Serve(l) }() // ends with Close
	return server.Close
}

// hosts sets the folder in which containerd looks for the registry to use.
const hosts = `version = 4

[plugins."io.containerd.cri.v1.images".registry]
config_path = %q
`

// nowhereElse makes containerd use one registry for the images of all.
const nowhereElse = `server = "http://%[1]s"

[host."http://%[1]s"]
capabilities = ["pull", "resolve"]
`

// attach serves the images at an address of a node's loopback, and makes containerd pull them from
// there.
func (r Registry) attach(n *node.Node, folder string) (address string, stop func() error, err error) {
	listener, err := n.Listen(":0")
	if err != nil {
		return "", nil, err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return "", nil, errors.Join(err, listener.Close())
	}
	all := filepath.Join(folder, "_default")
	if err := os.MkdirAll(all, 0o755); err != nil {
		return "", nil, errors.Join(err, listener.Close())
	}
	address = net.JoinHostPort("127.0.0.1", port)
	text := fmt.Sprintf(nowhereElse, address)
	if err := os.WriteFile(filepath.Join(all, "hosts.toml"), []byte(text), 0o644); err != nil {
		return "", nil, errors.Join(err, listener.Close())
	}
	return address, r.serve(listener), nil
}
