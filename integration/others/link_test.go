// SPDX-License-Identifier: Apache-2.0

package others

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/vishvananda/netlink"

	"github.com/hookline-nri/hookline/testkit/node"
)

// link is the network device of a pod: one end of a veth pair, since not every kernel has dummy
// devices. It is lost with its network namespace.
func link(pod string) string { return "dev-" + pod }

// makeLink makes the device of a pod on the node, unless it exists.
func makeLink(_ context.Context, l *life, pod string) error {
	err := l.n.Within(func() error {
		return netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: link(pod)}, PeerName: "peer-" + pod})
	})
	if err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make network device %s: %w", link(pod), err)
	}
	return nil
}

// linkIsIn returns nil if the network namespace of a container has the device of its pod.
func linkIsIn(_ *node.Node, pod string, pid int) error {
	return hasLink(filepath.Join("/proc", fmt.Sprint(pid), "net/dev"), link(pod))
}

// linkIsBack returns nil if the node has the device of a pod.
func linkIsBack(n *node.Node, pod string) error {
	return n.Within(func() error { return hasLink("/proc/thread-self/net/dev", link(pod)) })
}

// hasLink returns nil if a network namespace has a device, according to its file in proc.
func hasLink(file, name string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), " "+name+":") && !strings.Contains(string(text), "\n"+name+":") {
		return fmt.Errorf("no device %s", name)
	}
	return nil
}

// removeLinks removes the devices of pods from a node.
func removeLinks(n *node.Node) error {
	return n.Within(func() error {
		links, err := netlink.LinkList()
		if err != nil {
			return err
		}
		for _, l := range links {
			if strings.HasPrefix(l.Attrs().Name, link("")) {
				err = errors.Join(err, netlink.LinkDel(l))
			}
		}
		return err
	})
}
