// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// The bounds of a Network. They are far above what pods have, and keep its record small.
const (
	mostInterfaces = 32
	mostAddresses  = 64 // of one interface
	mostRoutes     = 256
	mostTexts      = 32  // of each list of DNS
	longestText    = 255 // bytes: a name of DNS has 253
	longestName    = 15  // bytes of an interface's name: IFNAMSIZ of Linux with its end
)

// Check returns an error for a network that no pod can have: a pod needs an address, and a runtime records all of it.
func (n *Network) Check() error {
	if len(n.GetInterfaces()) == 0 || len(n.GetInterfaces()[0].GetAddresses()) == 0 {
		return errors.New("no address")
	}
	if len(n.GetInterfaces()) > mostInterfaces || len(n.GetRoutes()) > mostRoutes {
		return fmt.Errorf("%d interfaces and %d routes: no more than %d and %d are allowed", len(n.GetInterfaces()), len(n.GetRoutes()), mostInterfaces, mostRoutes)
	}
	has := make(map[string]bool)
	for _, i := range n.GetInterfaces() {
		if err := i.check(); err != nil {
			return fmt.Errorf("interface %.16q: %w", i.GetName(), err)
		}
		for _, one := range append(i.hosts(), i.GetName()) {
			if has[one] {
				return fmt.Errorf("%q exists twice", one)
			}
			has[one] = true
		}
	}
	for _, r := range n.GetRoutes() {
		if err := r.check(); err != nil {
			return fmt.Errorf("route to %.64q: %w", r.GetDestination(), err)
		}
	}
	if err := n.GetDns().check(); err != nil {
		return fmt.Errorf("DNS: %w", err)
	}
	return nil
}

func (i *Interface) check() error {
	name := i.GetName()
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '/' || r == ':' }
	if name == "" || name == "." || name == ".." || name == "lo" || len(name) > longestName || strings.ContainsFunc(name, odd) {
		return errors.New("no name of an interface")
	}
	if mac := i.GetMac(); mac != "" {
		if _, err := net.ParseMAC(mac); err != nil {
			return fmt.Errorf("MAC %.64q is none", mac)
		}
	}
	if len(i.GetAddresses()) > mostAddresses {
		return fmt.Errorf("%d addresses: no more than %d are allowed", len(i.GetAddresses()), mostAddresses)
	}
	for _, text := range i.GetAddresses() {
		p, err := netip.ParsePrefix(text)
		if a := p.Addr(); err != nil || p.Bits() == 0 || a.Is4In6() || !a.IsGlobalUnicast() {
			return fmt.Errorf("%.64q is no address of a pod with a prefix length, as 10.0.0.7/24", text)
		}
	}
	return nil
}

// hosts returns the addresses without the lengths of their prefixes, in one form.
func (i *Interface) hosts() (all []string) {
	for _, text := range i.GetAddresses() {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, p.Addr().String())
		}
	}
	return all
}

func (r *Route) check() error {
	network, err := netip.ParsePrefix(r.GetDestination())
	if err != nil || network != network.Masked() || network.Addr().Is4In6() {
		return errors.New("no network, as 0.0.0.0/0")
	}
	if r.GetGateway() == "" {
		return nil
	}
	if g, err := netip.ParseAddr(r.GetGateway()); err != nil || g.Zone() != "" || g.Is4() != network.Addr().Is4() {
		return fmt.Errorf("gateway %.64q is no address of its family", r.GetGateway())
	}
	return nil
}

func (d *DNS) check() error {
	for _, server := range d.GetServers() {
		if _, err := netip.ParseAddr(server); err != nil {
			return fmt.Errorf("server %.64q is no address", server)
		}
	}
	for _, texts := range [][]string{d.GetServers(), d.GetSearches(), d.GetOptions(), {d.GetDomain()}} {
		if len(texts) > mostTexts {
			return fmt.Errorf("a list of %d: no more than %d are allowed", len(texts), mostTexts)
		}
		for _, text := range texts {
			if len(text) > longestText {
				return fmt.Errorf("%.64q is longer than %d bytes", text, longestText)
			}
		}
	}
	return nil
}
