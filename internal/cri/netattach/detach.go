// SPDX-License-Identifier: Apache-2.0

package netattach

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/types"
)

// A Pod is who is taken off its networks.
type Pod struct {
	ID string
	// NetNS is the path of the network namespace, empty if that is gone.
	NetNS string
	// Args and CapabilityArgs are those of its ADD. They are used for networks
	// of which nothing was kept.
	Args           [][2]string
	CapabilityArgs map[string]any
}

// Result is what Detach found and did. Loopbacks are not counted in Kept,
// Replaced and Loaded: they hold nothing.
type Result struct {
	// Kept is how many attachments were kept of the pod.
	Kept int
	// Replaced of them are of networks that are not loaded any more, or not as
	// they were.
	Replaced int
	// Loaded is how many networks are loaded of which nothing was kept.
	Loaded int
	// Failed is how many DELs failed, of all.
	Failed int
	// Unreadable are the paths of files that should tell of an attachment and do
	// not. What they stood for may have leaked, if its network is not loaded.
	Unreadable []string
}

// Unknown tells that there was nothing to go by.
func (r Result) Unknown() bool { return r.Kept == 0 && r.Loaded == 0 }

// Detach takes a pod off its networks, the last that was attached first. For
// each interface that is what was kept of its ADD, and if nothing was, the
// network that is loaded for it: its ADD failed, or has not been tried. One
// that fails keeps none of the others. The errors are joined, and what was kept
// and failed stays kept for another time.
//
// Of a network whose ADD failed, a plugin that fails its DEL keeps none of the
// others in its chain either. Those before it may hold an address
// (https://github.com/containerd/containerd/issues/12130). There is no result
// of the ADD that could be given to them, so no one else's address is at risk.
//
// As with go-cni, what a plugin does not find needs no DEL.
func (k *Kept) Detach(ctx context.Context, pod Pod, loaded *gocni.ConfigResult) (Result, error) {
	kept, unreadable, err := k.Attachments(pod.ID)
	if err != nil {
		return Result{}, err
	}
	result := Result{Unreadable: unreadable}
	var failures []error
	note := func(err error) {
		if err != nil {
			result.Failed++
			failures = append(failures, err)
		}
	}
	attached := map[string]bool{}
	for _, a := range kept {
		attached[a.IfName] = true
		list := named(loaded, a)
		if a.IfName != loopback {
			result.Kept++
			if list == nil {
				result.Replaced++
			}
		}
		note(k.detachKept(ctx, pod, a, list))
	}
	for _, n := range backwards(loaded) {
		if attached[n.IFName] {
			continue
		}
		if n.IFName != loopback {
			result.Loaded++
		}
		note(k.detachLoaded(ctx, pod, n))
	}
	return result, errors.Join(failures...)
}

// detachKept runs the DEL of an attachment: with list, if the network is loaded
// as it was, or with what was kept.
func (k *Kept) detachKept(ctx context.Context, pod Pod, a Attachment, list *libcni.NetworkConfigList) error {
	run := &libcni.RuntimeConf{ContainerID: pod.ID, NetNS: pod.NetNS, IfName: a.IfName, Args: a.args, CapabilityArgs: a.capabilityArgs}
	err := k.delKept(ctx, run, a, list)
	if err == nil || absent(err, pod.NetNS) {
		return nil
	}
	return fmt.Errorf("network %q, interface %s of %s: DEL with what was kept of the ADD: %w", a.Network, a.IfName, pod.ID, err)
}

func (k *Kept) delKept(ctx context.Context, run *libcni.RuntimeConf, a Attachment, list *libcni.NetworkConfigList) error {
	if list != nil {
		return k.cni.DelNetworkList(ctx, list, run)
	}
	list, err := libcni.NetworkConfFromBytes(a.Config)
	if err != nil {
		return err
	}
	if len(list.Plugins) > 0 {
		return k.cni.DelNetworkList(ctx, list, run)
	}
	// A DEL of no plugins would succeed. It is one plugin's, or nobody's.
	plugin, err := libcni.NetworkPluginConfFromBytes(a.Config)
	if err != nil {
		return errors.New("the plugins were not kept: they are not in the configuration of the network")
	}
	return k.cni.DelNetwork(ctx, plugin, run)
}

// detachLoaded runs the DEL of a network with nothing kept of its ADD.
func (k *Kept) detachLoaded(ctx context.Context, pod Pod, n *gocni.ConfNetwork) error {
	run := &libcni.RuntimeConf{ContainerID: pod.ID, NetNS: pod.NetNS, IfName: n.IFName, Args: pod.Args, CapabilityArgs: pod.CapabilityArgs}
	list := listOf(n)
	err := k.cni.DelNetworkList(ctx, list, run)
	if err == nil || absent(err, pod.NetNS) {
		return nil
	}
	var failures []error
	for _, plugin := range slices.Backward(list.Plugins) {
		one := &libcni.NetworkConfigList{Name: list.Name, CNIVersion: list.CNIVersion, Plugins: []*libcni.PluginConfig{plugin}}
		if err := k.cni.DelNetworkList(ctx, one, run); err != nil && !absent(err, pod.NetNS) {
			failures = append(failures, err)
		}
	}
	if len(failures) == 0 {
		return nil
	}
	return fmt.Errorf("network %q, interface %s of %s: DEL with nothing kept of an ADD: %w", list.Name, n.IFName, pod.ID, errors.Join(failures...))
}

// absent tells whether a plugin failed a DEL since there is nothing to delete.
// Plugins should not: see https://github.com/containernetworking/plugins/issues/210.
func absent(err error, netns string) bool {
	var answer *types.Error
	if !errors.As(err, &answer) {
		return false
	}
	return strings.Contains(err.Error(), "not found") ||
		netns == "" && strings.Contains(err.Error(), "no such file or directory")
}
