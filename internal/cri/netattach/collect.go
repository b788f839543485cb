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

// Collected is the result of Collect for a network.
type Collected struct {
	Network string
	// Valid is the number of valid attachments that its plugins were given.
	Valid int
	Err   error
}

// Pods are the pods of a runtime that starts.
type Pods struct {
	// Valid reports whether the container is one of them, whatever its state.
	Valid func(id string) bool
	// Attached are the pods that were attached and not detached since.
	Attached []string
}

// Collect has each loaded network free the resources of pods that are gone: cached
// attachments of containers that are not valid get their DEL, and the plugins get a
// GC with the remaining attachments. Networks below CNI 1.1.0 are left alone.
//
// No pod may be attached to these networks meanwhile, by any process: its resources
// would be freed. So would those of a pod whose cached attachment is missing or cannot
// be read: if there is one, nothing is done, and the error is of class
// errdefs.ErrFailedPrecondition.
func (c *Cache) Collect(ctx context.Context, loaded *gocni.ConfigResult, pods Pods) ([]Collected, error) {
	cached, err := c.complete(pods.Attached)
	if err != nil {
		return nil, fmt.Errorf("no garbage collection of networks: %w: %w", err, errdefs.ErrFailedPrecondition)
	}
	var done []Collected
	all := collectable(loaded)
	for i, n := range all {
		turn, cancel := share(ctx, len(all)-i)
		done = append(done, c.collect(turn, n, cached, pods.Valid))
		cancel()
	}
	return done, nil
}

func (c *Cache) collect(ctx context.Context, n *gocni.ConfNetwork, cached []*libcni.NetworkAttachment, valid func(string) bool) Collected {
	stay, failures := c.detachOthers(ctx, n, cached, valid)
	if err := c.cni.GCNetworkList(ctx, netconf.List(n), &libcni.GCArgs{ValidAttachments: stay}); err != nil {
		failures = append(failures, err)
	}
	return Collected{Network: n.Config.Name, Valid: len(stay), Err: errors.Join(failures...)}
}

// complete returns all cached attachments, if each attached container has one.
func (c *Cache) complete(attached []string) ([]*libcni.NetworkAttachment, error) {
	if err := c.readable(); err != nil {
		return nil, err
	}
	cached, err := c.cni.GetCachedAttachments("")
	if err != nil {
		return nil, err
	}
	for _, id := range attached {
		if !slices.ContainsFunc(cached, func(a *libcni.NetworkAttachment) bool { return a.ContainerID == id && a.IfName != netconf.Loopback }) {
			return nil, fmt.Errorf("no cached attachment in %s of %s, which is attached", c.results, id)
		}
	}
	return cached, nil
}

// detachOthers runs the DEL of the network's cached attachments of containers that are not
// valid. It uses the configuration of their ADD; libcni would take the loaded one. It returns
// the attachments that remain, and the failures.
func (c *Cache) detachOthers(ctx context.Context, n *gocni.ConfNetwork, cached []*libcni.NetworkAttachment, valid func(string) bool) ([]types.GCAttachment, []error) {
	stay, failures := []types.GCAttachment{}, []error(nil)
	var others []*libcni.NetworkAttachment
	for _, a := range cached {
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
		err := c.detachOther(turn, n, a)
		cancel()
		if err != nil {
			stay = append(stay, types.GCAttachment{ContainerID: a.ContainerID, IfName: a.IfName})
			failures = append(failures, fmt.Errorf("DEL of %s, interface %s: %w", a.ContainerID, a.IfName, err))
		}
	}
	return stay, failures
}

func (c *Cache) detachOther(ctx context.Context, n *gocni.ConfNetwork, a *libcni.NetworkAttachment) error {
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
	return c.del(ctx, attachment, a.ContainerID, netns, list)
}

// collectable returns the networks that have GC, and do not disable it.
func collectable(loaded *gocni.ConfigResult) []*gocni.ConfNetwork {
	return slices.DeleteFunc(netconf.All(loaded), func(n *gocni.ConfNetwork) bool {
		if has, _ := version.GreaterThanOrEqualTo(n.Config.CNIVersion, "1.1.0"); !has {
			return true
		}
		whole, err := libcni.NetworkConfFromBytes([]byte(n.Config.Source))
		return err == nil && whole.DisableGC
	})
}

// readable returns an error if a cached attachment cannot be read. libcni skips those.
func (c *Cache) readable() error {
	entries, err := os.ReadDir(c.results)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(c.results, e.Name())
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		var cached struct {
			Kind        string `json:"kind"`
			ContainerID string `json:"containerId"`
		}
		if err := json.Unmarshal(text, &cached); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if cached.Kind != libcni.CNICacheV1 || cached.ContainerID == "" {
			return fmt.Errorf("read %s: not a cached attachment of a known form", path)
		}
	}
	return nil
}
