// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// clusterName is the name of the cluster. kind names its nodes after it.
const clusterName = "hookline"

//go:embed files/cluster.yaml
var clusterText string

//go:embed files/debian.yaml
var withoutImages string

//go:embed files/hookline.toml
var dropIn string

// Kubeconfig is the file that gives access to the cluster.
func (m Maker) Kubeconfig() string { return filepath.Join(m.Out, "kubeconfig") }

// Exists reports whether the cluster exists.
func (m Maker) Exists(ctx context.Context, e Engine) bool {
	if _, err := os.Stat(m.program("kind")); err != nil {
		return false
	}
	names, err := m.kind(ctx, e, "get", "clusters")
	return err == nil && slices.Contains(strings.Fields(names), clusterName)
}

// kind runs the pinned kind on an engine.
func (m Maker) kind(ctx context.Context, e Engine, args ...string) (string, error) {
	return output(e.command(ctx, m.program("kind"), args...))
}

// kubectl returns a kubectl command for the cluster.
func (m Maker) kubectl(ctx context.Context, e Engine, args ...string) *exec.Cmd {
	cmd := e.command(ctx, m.program("kubectl"), args...)
	cmd.Env = append(cmd.Env, "KUBECONFIG="+m.Kubeconfig())
	return cmd
}

// Create makes the cluster of the node image, unless it exists.
func (m Maker) Create(ctx context.Context, e Engine) error {
	if err := m.build(ctx, "kind", "kubectl"); err != nil {
		return err
	}
	if m.Exists(ctx, e) {
		return nil
	}
	conf := filepath.Join(m.Out, "conf.d")
	if err := os.MkdirAll(conf, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(conf, "hookline.toml"), []byte(dropIn), 0o644); err != nil {
		return err
	}
	debian := m.isDebian(ctx, e)
	text := strings.ReplaceAll(clusterText, "@DROPIN@", conf)
	if debian {
		text = strings.ReplaceAll(text, "@PATCHES@", withoutDNS) + withoutImages
	} else {
		text = strings.ReplaceAll(text, "@PATCHES@", "")
	}
	config := filepath.Join(m.Out, "cluster.yaml")
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return err
	}
	if err := m.create(ctx, e, config); err != nil {
		return err
	}
	if debian {
		if err := m.connect(ctx, e); err != nil {
			return err
		}
	}
	return m.ready(ctx, e)
}

// withoutDNS is a patch for kubeadm.
const withoutDNS = `  - |
    kind: InitConfiguration
    skipPhases: [preflight, addon/kube-proxy, addon/coredns]
`

func (m Maker) create(ctx context.Context, e Engine, config string) error {
	defer m.Step("create the cluster")()
	_, err := m.kind(ctx, e, "create", "cluster", "--name", clusterName, "--image", Image, "--config", config, "--kubeconfig", m.Kubeconfig())
	return err
}

// isDebian reports whether the node image was made without a registry, so that it has no
// network.
func (m Maker) isDebian(ctx context.Context, e Engine) bool {
	inputs, err := e.output(ctx, "image", "inspect", "--format", "{{index .Config.Labels \""+inputsLabel+"\"}}", Image)
	return err == nil && !strings.Contains(inputs, " ")
}

// networkText is the network of a node: a veth pair for each pod, and addresses of the node's own
// range. It has CNI 1.1, so that STATUS is run.
const networkText = `{
  "cniVersion": "1.1.0",
  "name": "pods",
  "plugins": [{
    "type": "ptp",
    "ipam": {
      "type": "host-local",
      "ranges": [[{"subnet": %q}]],
      "routes": [{"dst": "0.0.0.0/0"}]
    }
  }]
}
`

// connect gives each node its network.
func (m Maker) connect(ctx context.Context, e Engine) error {
	defer m.Step("network of the pods")()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var nodes struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct{ PodCIDR string }
		}
	}
	err := wait.Until(ctx, "the addresses of the nodes", func(ctx context.Context) error {
		text, err := output(m.kubectl(ctx, e, "get", "nodes", "-o", "json"))
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &nodes); err != nil {
			return err
		}
		for _, n := range nodes.Items {
			if n.Spec.PodCIDR == "" {
				return fmt.Errorf("node %s has none", n.Metadata.Name)
			}
		}
		if len(nodes.Items) < 2 {
			return errors.New("one of the nodes is missing")
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range nodes.Items {
		write := e.command(ctx, "docker", "exec", "-i", n.Metadata.Name, "tee", "/etc/cni/net.d/10-pods.conflist")
		write.Stdin = strings.NewReader(fmt.Sprintf(networkText, n.Spec.PodCIDR))
		if _, err := output(write); err != nil {
			return err
		}
	}
	return nil
}

// ready waits until all nodes are Ready.
func (m Maker) ready(ctx context.Context, e Engine) error {
	defer m.Step("nodes get ready")()
	_, err := output(m.kubectl(ctx, e, "wait", "--for=condition=Ready", "nodes", "--all", "--timeout=5m"))
	return err
}

// load puts an image on the nodes.
func (m Maker) load(ctx context.Context, e Engine, name, archive string) error {
	defer m.Step("load " + name)()
	_, err := m.kind(ctx, e, "load", "image-archive", "--name", clusterName, archive)
	return err
}

// Remove removes the cluster, its image, and the engine if it is one of ours.
func (m Maker) Remove(ctx context.Context) error {
	e, ok := m.Engine(ctx)
	if ok && !e.own() && m.Exists(ctx, e) {
		end := m.Step("remove the cluster")
		_, err := m.kind(ctx, e, "delete", "cluster", "--name", clusterName, "--kubeconfig", m.Kubeconfig())
		if err == nil {
			_, err = e.output(ctx, "image", "rm", "--force", Image)
		}
		end()
		if err != nil {
			return err
		}
	}
	return errors.Join(m.stopEngine(ctx), remove(m.Kubeconfig()), remove(m.Kubeconfig()+".lock"))
}
