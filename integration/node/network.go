// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Addresses lists the addresses that an interface has in a pod's network
// namespace, which is named by a path as NRI gives it.
func (n *Node) Addresses(netns, iface string) ([]string, error) {
	var found []string
	err := n.ns.do(func() error {
		f, err := os.Open(netns)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter: %w", err)
		}
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
	if err != nil {
		return nil, fmt.Errorf("look into network namespace %s: %w", netns, err)
	}
	return found, nil
}
