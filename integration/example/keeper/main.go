// SPDX-License-Identifier: Apache-2.0

// Command keeper is an NRI plugin that keeps a folder for each pod of the node. Whatever happens to the
// plugin or the runtime, it keeps folders of existing pods and no others.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/containerd/nri/pkg/api"

	"github.com/hookline-nri/hookline/plugin"
	"github.com/hookline-nri/hookline/podstate"
)

func main() {
	socket := flag.String("socket", api.DefaultSocketPath, "socket of NRI")
	root := flag.String("root", "/var/lib/keeper", "folder of the plugin")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *socket, *root); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, socket, root string) error {
	k := keeper{filepath.Join(root, "pods")}
	pods, err := plugin.OpenPods(ctx, filepath.Join(root, "records"), k.take, k.free)
	if err != nil {
		return err
	}
	p := &plugin.Plugin{Index: "50", Name: "keeper", Socket: socket, Handler: pods}
	return p.Run(ctx)
}

type keeper struct{ folder string }

// take makes the folder of a pod, and returns what to keep of it. An error rejects the pod.
func (k keeper) take(_ context.Context, pod *api.PodSandbox) (folder string, err error) {
	folder = filepath.Join(k.folder, pod.GetId())
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of pod %s: %w", pod.GetId(), err)
	}
	text := fmt.Sprintf("%s/%s %s\n", pod.GetNamespace(), pod.GetName(), podstate.FromPod(pod))
	if err := os.WriteFile(filepath.Join(folder, "pod"), []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("describe pod %s: %w", pod.GetId(), err)
	}
	return folder, nil
}

// free removes it. A plugin that was killed in take does not know folder.
func (k keeper) free(_ context.Context, id, _ string) error {
	if err := os.RemoveAll(filepath.Join(k.folder, id)); err != nil {
		return fmt.Errorf("remove the folder of pod %s: %w", id, err)
	}
	return nil
}
