// SPDX-License-Identifier: Apache-2.0

// Command nvidia runs the NRI plugin of NVIDIA's container toolkit, and nothing else of it: the
// toolkit's own program first installs the toolkit on the node.
package main

import (
	"context"
	"log"
	"os/signal"
	"syscall"

	"github.com/NVIDIA/nvidia-container-toolkit/cmd/nvidia-ctk-installer/container/runtime/nri"
	"github.com/containerd/nri/pkg/api"
	"github.com/sirupsen/logrus"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	p := nri.NewPlugin(ctx, logrus.New(), []string{"default"})
	if err := p.Start(ctx, api.DefaultSocketPath, "10"); err != nil {
		log.Fatal(err)
	}
	defer p.Stop()
	<-ctx.Done()
}
