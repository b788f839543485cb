// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// What gives the pods of a cluster their network.
const (
	CNI    = "cni"    // the CNI plugins of kind's released image, and ptp where the image has none
	Bridge = "bridge" // the example plugin of that name, on nodes without a CNI configuration
)

//go:embed files/bridge.toml
var bridgeSettings string

//go:embed files/bridge.yaml
var bridgePod string

//go:embed files/kube-proxy.service
var proxyUnit string

// networkFile has the settings of a cluster's network, if it is not CNI, in the folder of the nodes' settings.
const networkFile = "network.toml"

// SameNetwork returns an error if the existing cluster has another network than the one that is asked for.
func (m Maker) SameNetwork() error {
	has := CNI
	if _, err := os.Stat(filepath.Join(m.dropInFolder(), networkFile)); err == nil {
		has = Bridge
	}
	if m.Network == "" || m.Network == has {
		return nil
	}
	return fmt.Errorf("network %s: a cluster exists, and its network is %s: remove it first, with make kind-delete", m.Network, has)
}

// A node of the cluster, with what the API server knows of it.
type node struct {
	nodeContainer
	Metadata struct{ Name string }
	Spec     struct{ PodCIDRs []string }
	Status   struct {
		Addresses []struct{ Type, Address string }
	}
}

// connect gives the pods their network, unless kind has done so. debian: kind gives no services either.
func (m Maker) connect(ctx context.Context, e Engine, debian bool) error {
	if !debian && m.Network != Bridge {
		return nil
	}
	if m.Network == Bridge {
		if err := m.loadProgram(ctx, e, bridgeImage); err != nil {
			return err
		}
	}
	defer m.Step("network of the pods")()
	nodes, err := m.nodes(ctx, e)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		give := n.useCNI
		if m.Network == Bridge {
			give = n.runBridge
		}
		if err := errors.Join(give(ctx), n.route(ctx, nodes)); err != nil {
			return fmt.Errorf("node %s: %w", n.name, err)
		}
	}
	if !debian {
		return nil
	}
	return m.runProxies(ctx, e, nodes)
}

// nodes waits until both nodes have addresses for their pods.
func (m Maker) nodes(ctx context.Context, e Engine) ([]node, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var list struct{ Items []node }
	err := wait.Until(ctx, "the addresses of the nodes", func(ctx context.Context) error {
		text, err := output(m.kubectl(ctx, e, "get", "nodes", "-o", "json"))
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return err
		}
		for i, n := range list.Items {
			if len(n.Spec.PodCIDRs) == 0 {
				return fmt.Errorf("node %s has none", n.Metadata.Name)
			}
			list.Items[i].nodeContainer = nodeContainer{e, n.Metadata.Name}
		}
		if len(list.Items) < 2 {
			return errors.New("one of the nodes is missing")
		}
		return nil
	})
	return list.Items, err
}

// networkOf is the configuration of ptp, which has a veth pair for each pod, and addresses of the ranges
// of its node. It has CNI 1.1, so that STATUS is run.
func networkOf(cidrs ...string) (string, error) {
	type entry map[string]any
	var ranges [][]entry
	var routes []entry
	for _, cidr := range cidrs {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return "", err
		}
		everything := "0.0.0.0/0"
		if prefix.Addr().Is6() {
			everything = "::/0"
		}
		ranges = append(ranges, []entry{{"subnet": cidr}})
		routes = append(routes, entry{"dst": everything})
	}
	text, err := json.MarshalIndent(entry{"cniVersion": "1.1.0", "name": "pods", "plugins": []entry{
		{"type": "ptp", "ipam": entry{"type": "host-local", "ranges": ranges, "routes": routes}},
	}}, "", "  ")
	return string(text), err
}

func (n node) useCNI(ctx context.Context) error {
	text, err := networkOf(n.Spec.PodCIDRs...)
	if err != nil {
		return err
	}
	return n.write(ctx, "/etc/cni/net.d/10-pods.conflist", text)
}

// runBridge runs the plugin as a static pod, so that a node needs no other one for its network.
func (n node) runBridge(ctx context.Context) error {
	subnets := strings.Join(n.Spec.PodCIDRs, ",")
	return n.write(ctx, "/etc/kubernetes/manifests/bridge.yaml", strings.ReplaceAll(bridgePod, "@SUBNETS@", subnets))
}

// route leads to the pods of the other nodes.
func (n node) route(ctx context.Context, all []node) error {
	for _, other := range all {
		if other.name == n.name {
			continue
		}
		for _, cidr := range other.Spec.PodCIDRs {
			via, err := other.address(cidr)
			if err != nil {
				return err
			}
			if _, err := n.exec(ctx, "ip", "route", "replace", cidr, "via", via); err != nil {
				return err
			}
		}
	}
	return nil
}

// address returns the node's own address of the family of its pods' addresses.
func (n node) address(cidr string) (string, error) {
	pods, err := netip.ParsePrefix(cidr)
	if err != nil {
		return "", err
	}
	for _, a := range n.Status.Addresses {
		if own, err := netip.ParseAddr(a.Address); err == nil && a.Type == "InternalIP" && own.Is4() == pods.Addr().Is4() {
			return a.Address, nil
		}
	}
	return "", fmt.Errorf("node %s has no address of the family of %s", n.name, cidr)
}

// runProxies gives the nodes the services. They have the rights of the cluster's own user: this is a cluster for
// tests.
func (m Maker) runProxies(ctx context.Context, e Engine, nodes []node) error {
	kubeconfig, err := m.kind(ctx, e, "get", "kubeconfig", "--internal", "--name", clusterName)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := n.runProxy(ctx, kubeconfig); err != nil {
			return fmt.Errorf("services on node %s: %w", n.name, err)
		}
	}
	return nil
}

func (n node) runProxy(ctx context.Context, kubeconfig string) error {
	const unit = "/etc/systemd/system/kube-proxy.service"
	if err := n.write(ctx, "/etc/kubernetes/kube-proxy.conf", kubeconfig); err != nil {
		return err
	}
	if err := n.write(ctx, unit, strings.ReplaceAll(proxyUnit, "@NODE@", n.name)); err != nil {
		return err
	}
	_, err := n.exec(ctx, "systemctl", "enable", "--now", path.Base(unit))
	return err
}
