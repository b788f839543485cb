// SPDX-License-Identifier: Apache-2.0

// Command bridge is an example NRI plugin that gives pods their network, without CNI: each pod has a veth
// pair to a bridge of the node, and an address of each subnet. The operator names the plugin in the settings
// of the runtime: network = "bridge". Routes between nodes are the operator's.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containernetworking/cni/pkg/types"
	current "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/plugins/pkg/ip"
	"github.com/containernetworking/plugins/pkg/ipam"
	"github.com/containernetworking/plugins/pkg/ns"
	"github.com/containernetworking/plugins/pkg/utils/sysctl"
	"github.com/containernetworking/plugins/plugins/ipam/host-local/backend/allocator"
	"github.com/containernetworking/plugins/plugins/ipam/host-local/backend/disk"
	"github.com/vishvananda/netlink"

	"github.com/hookline-nri/hookline/plugin"
	"github.com/hookline-nri/hookline/plugin/podnetwork"
)

const (
	index = "50"
	name  = "bridge" // of the plugin, as in the runtime's settings
	iface = "eth0"   // of a pod

	onNode = "bridge0"
	prefix = "pod" // of the names of the pods' ends on the node
)

func main() {
	socket := flag.String("socket", api.DefaultSocketPath, "NRI socket of the runtime")
	root := flag.String("root", "/var/lib/bridge", "folder of the plugin")
	subnets := flag.String("subnets", "10.88.0.0/24", "subnets of the node's pods, such as 10.88.0.0/24,fd00:88::/64")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *socket, *root, strings.Split(*subnets, ",")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, socket, root string, subnets []string) error {
	b, err := newBridge(root, subnets)
	if err != nil {
		return err
	}
	pods, err := plugin.OpenPods(ctx, filepath.Join(root, "records"), b.attach, b.detach)
	if err != nil {
		return err
	}
	if err := b.sweep(); err != nil {
		return fmt.Errorf("addresses that a killed plugin has left: %w", err)
	}
	p := &plugin.Plugin{Index: index, Name: name, Socket: socket, Handler: pods}
	go b.watch(ctx, p.ReportNetwork)
	return p.Run(ctx)
}

// A bridge is the network of the node's pods.
type bridge struct {
	ranges []allocator.RangeSet // one for each subnet
	store  *disk.Store          // of addresses that are taken
	folder string               // of the store
}

// newBridge makes the interface of the node, unless it exists. It has the first address of each subnet.
func newBridge(root string, subnets []string) (*bridge, error) {
	b := &bridge{folder: filepath.Join(root, "addresses")}
	for _, text := range subnets {
		_, subnet, err := net.ParseCIDR(text)
		if err != nil {
			return nil, fmt.Errorf("subnet: %w", err)
		}
		set := allocator.RangeSet{{Subnet: types.IPNet(*subnet)}}
		if err := set.Canonicalize(); err != nil {
			return nil, fmt.Errorf("subnet %s: %w", text, err)
		}
		for _, other := range b.ranges {
			if set.Overlaps(&other) {
				return nil, fmt.Errorf("subnet %s overlaps another one", text)
			}
		}
		b.ranges = append(b.ranges, set)
	}
	var err error
	if b.store, err = disk.New(name, b.folder); err != nil {
		return nil, fmt.Errorf("store of addresses: %w", err)
	}
	if err := b.up(); err != nil {
		return nil, fmt.Errorf("bridge %s: %w", onNode, err)
	}
	return b, nil
}

func (b *bridge) up() error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = onNode
	if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attrs}); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	link, err := netlink.LinkByName(onNode)
	if err != nil {
		return err
	}
	return errors.Join(b.complete(link), netlink.LinkSetUp(link))
}

// complete gives the bridge its addresses, and the ends of all pods: it may have been made anew.
func (b *bridge) complete(link netlink.Link) error {
	ends, err := netlink.LinkList()
	// Pods remember the hardware address, so it must outlive the bridge, and not be one of a pod's end.
	first := b.ranges[0][0].Gateway
	own := append(net.HardwareAddr{0x0a, 0x58}, first[len(first)-4:]...)
	if !bytes.Equal(link.Attrs().HardwareAddr, own) {
		err = errors.Join(err, netlink.LinkSetHardwareAddr(link, own))
	}
	for _, set := range b.ranges {
		gateway := &netlink.Addr{IPNet: &net.IPNet{IP: set[0].Gateway, Mask: set[0].Subnet.Mask}}
		forward := ip.EnableIP4Forward
		if set[0].Gateway.To4() == nil {
			gateway.Flags, forward = syscall.IFA_F_NODAD, ip.EnableIP6Forward
		}
		err = errors.Join(err, netlink.AddrReplace(link, gateway), forward())
	}
	for _, end := range ends {
		if strings.HasPrefix(end.Attrs().Name, prefix) && end.Attrs().MasterIndex == 0 {
			err = errors.Join(err, netlink.LinkSetMaster(end, link))
		}
	}
	return err
}

// watch reports each second in which the bridge has changed whether it takes pods.
func (b *bridge) watch(ctx context.Context, report func(*podnetwork.Status) error) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for last := ""; ; {
		if now := b.fault(); now != last {
			status := &podnetwork.Status{Message: now}
			if now != "" {
				status.Code = podnetwork.Limited
			}
			if err := report(status); err != nil {
				log.Print(err)
			} else {
				last = now
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// fault returns why the bridge takes no pods, empty if it does.
func (b *bridge) fault() string {
	link, err := netlink.LinkByName(onNode)
	switch {
	case err != nil:
		return "the bridge does not exist"
	case link.Attrs().Flags&net.FlagUp == 0:
		return "the bridge is down"
	}
	if err := b.complete(link); err != nil {
		return err.Error()
	}
	return ""
}

// sweep removes addresses that belong to no pod: the library takes an address before it writes whose it is.
func (b *bridge) sweep() error {
	files, err := filepath.Glob(filepath.Join(b.folder, name, "*"))
	for _, file := range files {
		if info, e := os.Stat(file); e == nil && info.Size() == 0 && filepath.Base(file) != "lock" {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return err
}

// An attachment is the network of a pod, nil if this plugin gives it none.
type attachment struct{ Network *podnetwork.Network }

// PodNetwork is what the runtime receives.
func (a attachment) PodNetwork() *podnetwork.Network { return a.Network }

// attach gives a pod its addresses and its interface.
func (b *bridge) attach(_ context.Context, pod *api.PodSandbox) (attachment, error) {
	if !podnetwork.GivenBy(pod, index, name) {
		return attachment{}, nil
	}
	if len(pod.GetIps()) > 0 {
		return attachment{}, fmt.Errorf("pod %s runs with addresses %v, and its record is lost: it stays as it is", pod.GetId(), pod.GetIps())
	}
	if err := b.free(pod.GetId()); err != nil { // of a try that was interrupted
		return attachment{}, err
	}
	result := &current.Result{Interfaces: []*current.Interface{{Name: iface}}}
	network := &podnetwork.Network{Interfaces: []*podnetwork.Interface{{Name: iface}}}
	for i := range b.ranges {
		address, err := allocator.NewIPAllocator(&b.ranges[i], b.store, i).Get(pod.GetId(), iface, nil)
		if err != nil {
			return attachment{}, fmt.Errorf("address in %s: %w", b.ranges[i].String(), err)
		}
		all := net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}
		if address.Gateway.To4() == nil {
			all = net.IPNet{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}
		}
		address.Interface = current.Int(0)
		result.IPs = append(result.IPs, address)
		result.Routes = append(result.Routes, &types.Route{Dst: all, GW: address.Gateway})
		network.Interfaces[0].Addresses = append(network.Interfaces[0].Addresses, address.Address.String())
		network.Routes = append(network.Routes, &podnetwork.Route{Destination: all.String(), Gateway: address.Gateway.String()})
	}
	mac, err := b.plug(pod, result)
	if err != nil {
		return attachment{}, fmt.Errorf("interface of pod %s: %w", pod.GetId(), err)
	}
	network.Interfaces[0].Mac = mac
	return attachment{network}, nil
}

// plug makes the veth pair of a pod. The end in the pod has the addresses, the other is at the bridge.
func (b *bridge) plug(pod *api.PodSandbox, result *current.Result) (mac string, err error) {
	err = ns.WithNetNSPath(namespace(pod), func(node ns.NetNS) error {
		if err := ip.DelLinkByName(iface); err != nil && !errors.Is(err, ip.ErrLinkNotFound) { // of such a try, too
			return err
		}
		_, own, err := ip.SetupVethWithName(iface, outer(pod.GetId()), 0, "", node)
		if err != nil {
			return err
		}
		mac = own.HardwareAddr.String()
		// No other pod has the addresses: looking for one would take seconds.
		if _, err := sysctl.Sysctl("net/ipv6/conf/"+iface+"/accept_dad", "0"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return ipam.ConfigureIface(iface, result)
	})
	if err != nil {
		return "", err
	}
	bridge, err := netlink.LinkByName(onNode)
	if err != nil {
		return "", err
	}
	end, err := netlink.LinkByName(outer(pod.GetId()))
	if err != nil {
		return "", err
	}
	// A pod may reach itself by the address of a service.
	return mac, errors.Join(netlink.LinkSetMaster(end, bridge), netlink.LinkSetHairpin(end, true))
}

// detach removes both. The pod may not exist any more.
func (b *bridge) detach(_ context.Context, id string, _ attachment) error { return b.free(id) }

func (b *bridge) free(id string) error {
	if err := ip.DelLinkByName(outer(id)); err != nil && !errors.Is(err, ip.ErrLinkNotFound) {
		return fmt.Errorf("remove the interface of pod %s: %w", id, err)
	}
	for i := range b.ranges {
		if err := allocator.NewIPAllocator(&b.ranges[i], b.store, i).Release(id, iface); err != nil {
			return fmt.Errorf("release the address of pod %s: %w", id, err)
		}
	}
	return nil
}

// outer is the name of the end of a pod's veth pair on the node.
func outer(id string) string { return prefix + id[:min(len(id), 12)] }

// namespace is the path of a pod's network namespace.
func namespace(pod *api.PodSandbox) string {
	for _, n := range pod.GetLinux().GetNamespaces() {
		if n.GetType() == "network" {
			return n.GetPath()
		}
	}
	return ""
}
