// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// nsFolder is the folder of the namespaces in a bundle.
const nsFolder = "ns"

// pod is what a sandbox consists of.
type pod struct {
	bundle string
	files  string // the folder of its files
	config config

	own        map[specs.LinuxNamespaceType]bool // the kinds of namespaces that it does not share with the node
	sysctls    map[specs.LinuxNamespaceType]map[string]string
	namespaces []specs.LinuxNamespace // those that containers join
}

// errHostname is the answer for a hostname that would be the node's.
var errHostname = errors.New("a pod on the network of its node has the hostname of the node, and no other")

// newPod returns a pod that does not exist yet, except for its network namespace, if it has one.
func newPod(bundle, netns string, config config) (*pod, error) {
	if err := config.needsProcess(); err != nil {
		return nil, err
	}
	p := &pod{bundle: bundle, config: config, own: map[specs.LinuxNamespaceType]bool{
		specs.NetworkNamespace: netns != "",
		specs.UTSNamespace:     config.network != ofNode, // as with a pause container
		specs.IPCNamespace:     config.ipc != ofNode,
	}}
	if config.hostname != "" && !p.own[specs.UTSNamespace] {
		return nil, errHostname
	}
	if netns != "" {
		p.namespaces = append(p.namespaces, specs.LinuxNamespace{Type: specs.NetworkNamespace, Path: netns})
	}
	var err error
	p.sysctls, err = sortSysctls(config.sysctls, p.own)
	return p, err
}

// create makes the files and namespaces of a pod. stop removes what a failure leaves.
func (p *pod) create() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	name := p.config.hostname
	if name != "" {
		host = name
	}
	if p.files, err = onDisk(p.bundle); err != nil {
		return err
	}
	if err := writeFiles(p.files, host, p.config.dns); err != nil {
		return err
	}
	if p.own[specs.IPCNamespace] {
		if err := mountShm(p.bundle); err != nil {
			return err
		}
	}
	made, err := pin(filepath.Join(p.bundle, nsFolder), p.own, func() error {
		if p.own[specs.UTSNamespace] && name != "" {
			if err := unix.Sethostname([]byte(name)); err != nil {
				return fmt.Errorf("set the hostname: %w", err)
			}
		}
		for _, kind := range []specs.LinuxNamespaceType{specs.UTSNamespace, specs.IPCNamespace} {
			if err := setSysctls(p.sysctls[kind]); err != nil {
				return err
			}
		}
		return nil
	})
	p.namespaces = append(p.namespaces, made...)
	return err
}

// start sets the sysctls of the network.
func (p *pod) start() error {
	values := p.sysctls[specs.NetworkNamespace]
	if len(values) == 0 {
		return nil
	}
	return enter(p.namespaces, func() error { return setSysctls(values) })
}

// stop unmounts what create has mounted.
func (p *pod) stop() error { return Remove(p.bundle) }
