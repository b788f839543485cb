// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	containerd "github.com/containerd/containerd/v2/client"
	"golang.org/x/sys/unix"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/testkit/host"
	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// Boot starts containerd, for the first time or after Stop or Kill, and
// returns when it serves CRI, its network is ready, and NRI plugins can connect.
func (n *Node) Boot(ctx context.Context) error {
	if err := n.exec(ctx); err != nil {
		return err
	}
	client, err := containerd.New(n.paths.grpc(), containerd.WithDefaultNamespace(namespace))
	if err != nil {
		return n.daemon.WithLog(fmt.Errorf("connect to containerd: %w", err))
	}
	n.client = client
	return nil
}

// Stop asks containerd to exit and waits for it. Pods keep running.
func (n *Node) Stop(ctx context.Context) error { return n.end(ctx, unix.SIGTERM) }

// Kill kills containerd. Pods keep running.
func (n *Node) Kill(ctx context.Context) error { return n.end(ctx, unix.SIGKILL) }

func (n *Node) end(ctx context.Context, signal syscall.Signal) error {
	if err := n.daemon.End(ctx, signal); err != nil {
		return err
	}
	return n.disconnect()
}

// disconnect closes what Boot opened.
func (n *Node) disconnect() error {
	if n.client == nil {
		return nil
	}
	err := n.client.Close()
	n.client = nil
	return err
}

// exec runs containerd, and returns when it is ready.
func (n *Node) exec(ctx context.Context) error {
	bin, err := filepath.Abs(n.options.Bin)
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(bin, "containerd"), "--config", n.paths.config())
	cmd.Env = append(os.Environ(), "PATH="+n.paths.bin()+":"+os.Getenv("PATH")) // containerd finds the shim there
	if n.options.Traces {
		cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+traces, "OTEL_BSP_SCHEDULE_DELAY=50") // in milliseconds
	}
	return n.daemon.Boot(ctx, cmd, n.ready)
}

// pluginDisconnected is the reason of a network that waits for a plugin, which can connect only once
// containerd serves.
const pluginDisconnected = "NRIPluginDisconnected"

// ready returns an error unless containerd serves.
func (n *Node) ready(ctx context.Context) error {
	sockets := []string{n.paths.grpc()}
	if !n.options.WithoutNRI {
		sockets = append(sockets, n.paths.nri())
	}
	if err := host.Accept(ctx, sockets...); err != nil {
		return err
	}
	status, err := n.cri.Runtime.Status(ctx, &runtime.StatusRequest{})
	if err != nil {
		return err
	}
	_, configs := n.CNI()
	networks, err := os.ReadDir(configs)
	if err != nil {
		return err
	}
	for _, condition := range status.GetStatus().GetConditions() {
		if condition.GetType() != runtime.RuntimeReady && (condition.GetType() != runtime.NetworkReady || len(networks) == 0) {
			continue
		}
		if !condition.GetStatus() && condition.GetReason() != pluginDisconnected {
			return fmt.Errorf("%s is false: %s", condition.GetType(), condition.GetMessage())
		}
	}
	return nil
}

// Import imports and unpacks an image with one static program, and waits until CRI knows it, which
// gets an event for it. The program has the last word of the image's name.
func (n *Node) Import(ctx context.Context, name string, program []byte) error {
	var layout bytes.Buffer
	entry, _, _ := strings.Cut(path.Base(name), ":")
	made := image.Image{Name: name, Path: "/" + entry, Program: program}
	if err := made.Write(&layout); err != nil {
		return err
	}
	images, err := n.client.Import(ctx, &layout)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	for _, i := range images {
		if err := containerd.NewImage(n.client, i).Unpack(ctx, snapshotter); err != nil {
			return fmt.Errorf("unpack %s: %w", i.Name, err)
		}
	}
	return wait.Until(ctx, "image "+name, func(ctx context.Context) error {
		r, err := n.cri.Images.ImageStatus(ctx, &runtime.ImageStatusRequest{Image: &runtime.ImageSpec{Image: name}})
		if err == nil && r.GetImage() == nil {
			err = errors.New("CRI does not know it")
		}
		return err
	})
}
