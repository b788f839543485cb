// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Attachments returns the folder of libcni's cached attachments, as containerd sees it. containerd
// must be running.
func (n *Node) Attachments() string {
	return fmt.Sprintf("/proc/%d/root/var/lib/cni/results", n.PID())
}

// Addresses lists the addresses that an interface has in a pod's network
// namespace, which is named by a path as NRI gives it.
func (n *Node) Addresses(netns, iface string) ([]string, error) {
	var found []string
	err := n.Inside(netns, func() error {
		link, err := netlink.LinkByName(iface)
		if err != nil {
			return fmt.Errorf("find %s: %w", iface, err)
		}
		addresses, err := netlink.AddrList(link, netlink.FAMILY_V4)
		if err != nil {
			return fmt.Errorf("list addresses of %s: %w", iface, err)
		}
		for _, address := range addresses {
			found = append(found, address.IP.String())
		}
		return nil
	})
	return found, err
}

// Sysctl returns the content of a file below /proc/sys, such as net/ipv4/ip_forward, in a namespace
// of a pod, which is named by a path as NRI gives it.
func (n *Node) Sysctl(namespace, name string) (value string, err error) {
	err = n.Inside(namespace, func() error {
		text, err := os.ReadFile(filepath.Join("/proc/sys", name))
		value = strings.TrimSpace(string(text))
		return err
	})
	return value, err
}

// ReadOnlySysctls makes /proc/sys read-only for the node's programs, as systemd does for a unit with
// ProtectKernelTunables. Before that it switches on forwarding, as on such a host.
func (n *Node) ReadOnlySysctls() error {
	return n.Within(func() error {
		const sysctls = "/proc/sys"
		if err := os.WriteFile(sysctls+"/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(sysctls, sysctls, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s: %w", sysctls, err)
		}
		return unix.Mount("", sysctls, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	})
}

// Gateway returns the gateway of a pod's network namespace.
func (n *Node) Gateway(netns string) (gateway net.IP, err error) {
	err = n.Inside(netns, func() error {
		routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
		if err != nil {
			return fmt.Errorf("list routes: %w", err)
		}
		for _, route := range routes {
			if route.Gw != nil {
				gateway = route.Gw
				return nil
			}
		}
		return fmt.Errorf("no gateway in %d routes", len(routes))
	})
	return gateway, err
}

// DialFrom connects to an address from a pod's network namespace.
func (n *Node) DialFrom(ctx context.Context, netns, address string) (conn net.Conn, err error) {
	err = n.Inside(netns, func() (err error) {
		conn, err = new(net.Dialer).DialContext(ctx, "tcp4", address)
		return err
	})
	return conn, err
}
