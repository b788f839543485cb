// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookline-nri/hookline/testkit/image"
)

// A programImage is an image of one program: a module, a package of it, and the program's path in the image.
type programImage struct{ name, module, pkg, path string }

// testImages are the images of the end-to-end tests.
var testImages = []programImage{
	{"localhost/hookline/e2e:dev", "integration/cluster", "./program", "/program"},
	{"localhost/hookline/keeper:dev", ".", "./integration/example/keeper", "/keeper"},
}

// bridgeImage is the plugin that gives pods their network.
var bridgeImage = programImage{"localhost/hookline/bridge:dev", ".", "./integration/example/bridge", "/bridge"}

// stockFolder is where the tests find the unpatched containerd on a node.
const stockFolder = "/opt/stock/bin"

// Prepare puts the images of the end-to-end tests and the unpatched containerd on the nodes.
func (m Maker) Prepare(ctx context.Context, e Engine) error {
	for _, i := range testImages {
		if err := m.loadProgram(ctx, e, i); err != nil {
			return err
		}
	}
	defer m.Step("copy stock containerd")()
	nodes, err := m.kind(ctx, e, "get", "nodes", "--name", clusterName)
	if err != nil {
		return err
	}
	for _, node := range strings.Fields(nodes) {
		if err := m.giveStock(ctx, e, node); err != nil {
			return err
		}
	}
	return nil
}

// giveStock puts the unpatched containerd on a node, beside the node's own.
func (m Maker) giveStock(ctx context.Context, e Engine, node string) error {
	if _, err := e.output(ctx, "exec", node, "mkdir", "-p", stockFolder); err != nil {
		return err
	}
	for _, p := range stockPrograms {
		if _, err := e.output(ctx, "cp", filepath.Join(m.Stock, p), node+":"+stockFolder+"/"+p); err != nil {
			return err
		}
	}
	return nil
}

// loadProgram builds an image of a program and puts it on the nodes.
func (m Maker) loadProgram(ctx context.Context, e Engine, i programImage) error {
	program := filepath.Join(m.Out, "bin", tag(i.name))
	end := m.Step("build " + i.name)
	_, err := output(m.goBuild(ctx, filepath.Join(m.Root, i.module), program, i.pkg))
	end()
	if err != nil {
		return err
	}
	archive := program + ".tar"
	if err := writeImage(archive, image.Image{Name: i.name, Path: i.path}, program); err != nil {
		return err
	}
	return m.load(ctx, e, i.name, archive)
}

// writeImage writes an image of a program as an archive.
func writeImage(archive string, i image.Image, program string) (err error) {
	if i.Program, err = os.ReadFile(program); err != nil {
		return err
	}
	out, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return i.Write(out)
}
