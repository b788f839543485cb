// SPDX-License-Identifier: Apache-2.0

package netattach

import (
	"context"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	"golang.org/x/sync/errgroup"

	"github.com/hookline-nri/hookline/internal/cri/netconf"
)

// Attach runs the ADD of all loaded networks for a pod, at the same time or, if
// serially is set, one after the other. It returns when all ADDs that began have
// ended, with their results in the order of the networks, or with the first error.
// After an error the pod may be attached to some of them, see [Cache.Detach].
func (c *Cache) Attach(ctx context.Context, pod Pod, loaded *gocni.ConfigResult, serially bool) ([]*types100.Result, error) {
	networks := netconf.All(loaded)
	results := make([]*types100.Result, len(networks))
	var adds errgroup.Group
	for i, n := range networks {
		add := func() (err error) {
			results[i], err = c.add(ctx, pod, n)
			return err
		}
		if !serially {
			adds.Go(add)
			continue
		}
		if err := add(); err != nil {
			return nil, err
		}
	}
	if err := adds.Wait(); err != nil {
		return nil, err
	}
	return results, nil
}

func (c *Cache) add(ctx context.Context, pod Pod, n *gocni.ConfNetwork) (*types100.Result, error) {
	result, err := c.cni.AddNetworkList(ctx, netconf.List(n), &libcni.RuntimeConf{
		ContainerID: pod.ID, NetNS: pod.NetNS, IfName: n.IFName, Args: pod.Args, CapabilityArgs: pod.CapabilityArgs,
	})
	if err != nil {
		return nil, err
	}
	return types100.NewResultFromResult(result)
}
