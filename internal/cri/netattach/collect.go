// SPDX-License-Identifier: Apache-2.0

package netattach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/containerd/errdefs"
	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"

	"github.com/hookline-nri/hookline/internal/cri/netconf"
)

// Collected is what Collect did with a network.
type Collected struct {
	Network string
	// Valid is how many attachments it was told to keep.
	Valid int
	Err   error
}

// Pods are those of a runtime that comes up.
type Pods struct {
	// Valid tells whether the container is one of them, whatever its state.
	Valid func(id string) bool
	// Attached are those that have been attached and not been detached since.
	Attached []string
}

// Collect has each loaded network free what it holds for pods that are no more:
// what was kept of others than the valid ones gets its DEL, and the plugins get
// a GC with the attachments that stay. It is for networks of CNI 1.1.0 and up,
// and leaves the others alone.
//
// No pod may be attached to these networks meanwhile, by anyone: it would be
// taken for one that is no more. Where not all that is kept can be read, or
// nothing is kept of an attached pod, nothing is done and an error of class
// errdefs.ErrFailedPrecondition returned: what those pods hold would be freed.
func (k *Kept) Collect(ctx context.Context, loaded *gocni.ConfigResult, pods Pods) ([]Collected, error) {
	kept, err := k.whole(pods.Attached)
	if err != nil {
		return nil, fmt.Errorf("no garbage collection of networks: %w: %w", err, errdefs.ErrFailedPrecondition)
	}
	var done []Collected
	all := collectable(loaded)
	for i, n := range all {
		turn, cancel := share(ctx, len(all)-i)
		done = append(done, k.collect(turn, n, kept, pods.Valid))
		cancel()
	}
	return done, nil
}

func (k *Kept) collect(ctx context.Context, n *gocni.ConfNetwork, kept []*libcni.NetworkAttachment, valid func(string) bool) Collected {
	stay, failures := k.detachOthers(ctx, n, kept, valid)
	if err := k.cni.GCNetworkList(ctx, netconf.List(n), &libcni.GCArgs{ValidAttachments: stay}); err != nil {
		failures = append(failures, err)
	}
	return Collected{Network: n.Config.Name, Valid: len(stay), Err: errors.Join(failures...)}
}

// whole returns all that is kept, if that tells of each attached container.
func (k *Kept) whole(attached []string) ([]*libcni.NetworkAttachment, error) {
	if err := k.readable(); err != nil {
		return nil, err
	}
	kept, err := k.cni.GetCachedAttachments("")
	if err != nil {
		return nil, err
	}
	for _, id := range attached {
		if !slices.ContainsFunc(kept, func(a *libcni.NetworkAttachment) bool { return a.ContainerID == id && a.IfName != netconf.Loopback }) {
			return nil, fmt.Errorf("nothing is kept in %s of %s, which is attached", k.results, id)
		}
	}
	return kept, nil
}

// detachOthers runs the DEL of what was kept of the network for containers that
// are not valid, with the configuration of its ADD: libcni would take the one
// that is loaded. It returns what stays attached, and why if that is not wanted.
func (k *Kept) detachOthers(ctx context.Context, n *gocni.ConfNetwork, kept []*libcni.NetworkAttachment, valid func(string) bool) ([]types.GCAttachment, []error) {
	stay, failures := []types.GCAttachment{}, []error(nil)
	var others []*libcni.NetworkAttachment
	for _, a := range kept {
		switch {
		case a.Network != n.Config.Name:
		case valid(a.ContainerID):
			stay = append(stay, types.GCAttachment{ContainerID: a.ContainerID, IfName: a.IfName})
		default:
			others = append(others, a)
		}
	}
	for i, a := range others {
		turn, cancel := share(ctx, len(others)-i+1) // the GC has one, too
		err := k.detachOther(turn, n, a)
		cancel()
		if err != nil {
			stay = append(stay, types.GCAttachment{ContainerID: a.ContainerID, IfName: a.IfName})
			failures = append(failures, fmt.Errorf("DEL of %s, interface %s: %w", a.ContainerID, a.IfName, err))
		}
	}
	return stay, failures
}

func (k *Kept) detachOther(ctx context.Context, n *gocni.ConfNetwork, a *libcni.NetworkAttachment) error {
	netns := a.NetNS
	if _, err := os.Stat(netns); errors.Is(err, fs.ErrNotExist) {
		netns = ""
	}
	attachment := attachmentOf(a)
	list := netconf.List(n)
	if n.Config.Source != string(a.Config) {
		var err error
		if list, err = attachment.list(); err != nil {
			return err
		}
	}
	return k.del(ctx, attachment, a.ContainerID, netns, list)
}

// collectable are the networks that have a GC, and want it.
func collectable(loaded *gocni.ConfigResult) []*gocni.ConfNetwork {
	return slices.DeleteFunc(netconf.All(loaded), func(n *gocni.ConfNetwork) bool {
		if has, _ := version.GreaterThanOrEqualTo(n.Config.CNIVersion, "1.1.0"); !has {
			return true
		}
		whole, err := libcni.NetworkConfFromBytes([]byte(n.Config.Source))
		return err == nil && whole.DisableGC
	})
}

// readable tells why some of what is kept cannot be read. libcni passes over it.
func (k *Kept) readable() error {
	entries, err := os.ReadDir(k.results)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(k.results, e.Name())
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		var kept struct {
			Kind        string `json:"kind"`
			ContainerID string `json:"containerId"`
		}
		if err := json.Unmarshal(text, &kept); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if kept.Kind != libcni.CNICacheV1 || kept.ContainerID == "" {
			return fmt.Errorf("read %s: no attachment of a form that is known", path)
		}
	}
	return nil
}
