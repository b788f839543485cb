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

	"github.com/hookline-nri/hookline/integration/node"
)

// dranet is dranet's driver. It moves the network device that a pod claims into the network
// namespace of the pod, and back when the pod is stopped.
func dranet() plugin {
	return plugin{
		name:      "dranet",
		registers: "00-dra.net",
		gives:     "network device",
		command: func(n *node.Node) ([]string, error) {
			return []string{filepath.Join(programs, "dranet"), "-folder=" + filepath.Join(n.Folder(), "kubelet")}, nil
		},
		grant: claim,
		has: func(pod string, pid int) error {
			return hasLink(filepath.Join("/proc", fmt.Sprint(pid), "net/dev"), link(pod))
		},
		returned: func(n *node.Node, pod string) error {
			return n.Within(func() error { return hasLink("/proc/thread-self/net/dev", link(pod)) })
		},
	}
}

// link is the network device of a pod: one end of a veth pair, since not every kernel has devices
// that are made of nothing. It is lost with the network namespace that it is in.
func link(pod string) string { return "dev-" + pod }

// claim makes the device of a pod, unless there is one, and has dranet prepare the pod's claim of
// it.
func claim(ctx context.Context, l *life, pod string) error {
	err := l.n.Within(func() error {
		err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: link(pod)}, PeerName: "peer-" + pod})
		if errors.Is(err, os.ErrExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("make network device %s: %w", link(pod), err)
	}
	line := l.n.CRI().Pod(pod).GetMetadata().GetUid() + " " + link(pod) + "\n"
	before := l.printed(line)
	if _, err := fmt.Fprint(l.first.input, line); err != nil {
		return fmt.Errorf("claim device %s: %w", link(pod), err)
	}
	return eventually(ctx, "the claim of device "+link(pod), func() error {
		if l.printed(line) == before {
			return errors.New("it is not prepared")
		}
		return nil
	})
}

// printed counts the lines of the first instance's output that are this one.
func (l *life) printed(line string) int {
	text, err := os.ReadFile(filepath.Join(l.folder, out))
	if err != nil {
		return 0
	}
	return strings.Count(string(text), line)
}

// hasLink tells whether a network namespace has a device, by its file in proc.
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
