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

	"github.com/containerd/errdefs"
	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"
)

// Collected is what Collect did with a network.
type Collected struct {
	Network string
	// Valid is how many attachments it was told to keep.
	Valid int
	Err   error
}

// Collect has each loaded network free what it holds for pods that are no more:
// what was kept of others than those that valid tells gets its DEL, and the
// plugins get a GC with the attachments that stay. It is for networks of CNI
// 1.1.0 and up, and leaves the others alone.
//
// No pod may be attached to these networks meanwhile, by anyone: it would be
// taken for one that is no more. Where not all that is kept can be read, nothing
// is done and an error of class errdefs.ErrFailedPrecondition returned: the
// attachments of a pod may be among the rest.
func (k *Kept) Collect(ctx context.Context, loaded *gocni.ConfigResult, valid func(id string) bool) ([]Collected, error) {
	if err := k.readable(); err != nil {
		return nil, fmt.Errorf("no garbage collection of networks: %w: %w", err, errdefs.ErrFailedPrecondition)
	}
	kept, err := k.cni.GetCachedAttachments("")
	if err != nil {
		return nil, fmt.Errorf("no garbage collection of networks: %w: %w", err, errdefs.ErrFailedPrecondition)
	}
	var done []Collected
	for _, n := range networks(loaded) {
		if has, _ := version.GreaterThanOrEqualTo(n.Config.CNIVersion, "1.1.0"); !has {
			continue
		}
		stay := []types.GCAttachment{}
		for _, a := range kept {
			if a.Network == n.Config.Name && valid(a.ContainerID) {
				stay = append(stay, types.GCAttachment{ContainerID: a.ContainerID, IfName: a.IfName})
			}
		}
		err := k.cni.GCNetworkList(ctx, collectable(n), &libcni.GCArgs{ValidAttachments: stay})
		done = append(done, Collected{Network: n.Config.Name, Valid: len(stay), Err: err})
	}
	return done, nil
}

// collectable is the network, with its own word on whether it wants a GC.
func collectable(n *gocni.ConfNetwork) *libcni.NetworkConfigList {
	list := listOf(n)
	if whole, err := libcni.NetworkConfFromBytes(list.Bytes); err == nil {
		list.DisableGC = whole.DisableGC
	}
	return list
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
