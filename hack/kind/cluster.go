// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// clusterName is the name of the cluster. kind names its nodes after it.
const clusterName = "hookline"

//go:embed files/cluster.yaml
var clusterText string

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
	conf, err := m.dropIns()
	if err != nil {
		return err
	}
	debian := m.isDebian(ctx, e)
	patches := ""
	if debian {
		patches = withoutDNS
	}
	text := strings.NewReplacer("@DROPIN@", conf, "@PATCHES@", patches, "@NETWORKING@", m.networking(debian)).Replace(clusterText)
	config := filepath.Join(m.Out, "cluster.yaml")
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return err
	}
	if err := m.create(ctx, e, config); err != nil {
		return err
	}
	if err := m.connect(ctx, e, debian); err != nil {
		return err
	}
	return m.ready(ctx, e)
}

func (m Maker) dropInFolder() string { return filepath.Join(m.Out, "conf.d") }

// dropIns writes the settings of the nodes, and returns their folder.
func (m Maker) dropIns() (string, error) {
	files := map[string]string{"hookline.toml": dropIn}
	if m.Network == Bridge {
		files[networkFile] = bridgeSettings
	}
	conf := m.dropInFolder()
	if err := errors.Join(os.RemoveAll(conf), os.MkdirAll(conf, 0o755)); err != nil { // an earlier cluster may have had others
		return "", err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(conf, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	return conf, nil
}

// networking is a section of kind's configuration: what kind installs, and for which families.
func (m Maker) networking(debian bool) string {
	text := ""
	if debian {
		text += "  kubeProxyMode: none\n"
	}
	if debian || m.Network == Bridge {
		text += "  disableDefaultCNI: true\n"
	}
	if m.Network == Bridge {
		text += "  ipFamily: dual\n"
	}
	if text == "" {
		return ""
	}
	return "networking:\n" + text
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
