// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/go-cni"
	"github.com/containerd/log"

	"github.com/containerd/containerd/v2/internal/cri/netattach"
	"github.com/containerd/containerd/v2/internal/cri/podnet"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// detachPod takes a sandbox off its networks with what was kept of its ADD, and
// with what is loaded for the rest (N3). path is that of the network namespace,
// empty if it is gone.
func (c *criService) detachPod(ctx context.Context, plugin cni.CNI, sandbox sandboxstore.Sandbox, path string, opts ...cni.NamespaceOpts) error {
	network, ok := plugin.(*podnet.Network)
	if !ok {
		return plugin.Remove(ctx, sandbox.ID, path, opts...)
	}
	pod, err := attachedPod(sandbox.ID, path, sandbox.Config)
	if err != nil {
		return err
	}
	pod.Attached = sandbox.CNIResult != nil
	result, err := network.Detach(ctx, pod)
	networkCachedDels.Inc(float64(result.Replaced))
	if err != nil {
		return err // what failed is tried again
	}
	logger := log.G(ctx).WithField("podsandboxid", sandbox.ID)
	if len(result.Ignored) > 0 {
		logger.WithError(errors.Join(result.Ignored...)).Debugf("networks that sandbox %q is not on failed its DEL", sandbox.Name)
	}
	wasCut := !pod.Attached && sandbox.Status.Get().CreatedAt.Before(network.Began())
	if leaks := leaked(pod, result, wasCut); len(leaks) > 0 {
		networkRemovedWithoutDel.Inc()
		logger.Warnf("sandbox %q is taken off its network without a successful DEL, and its addresses %v may have leaked: %s",
			sandbox.Name, append([]string{sandbox.IP}, sandbox.AdditionalIPs...), strings.Join(leaks, "; "))
	}
	return nil
}

// leaked tells why something of a pod that is off its networks may be left. Without
// a namespace it was off before, and it was told.
func leaked(pod netattach.Pod, result netattach.Result, wasCut bool) (why []string) {
	switch {
	case result.Kept > 0 || pod.NetNS == "" || !pod.Attached && !wasCut:
	case wasCut:
		why = append(why, "its creation was cut, and the network that it was being attached to may be another than the one that is loaded")
	case result.Loaded == 0:
		why = append(why, "nothing was kept of it and no network is loaded")
	default:
		why = append(why, "nothing was kept of it and DEL went to the network that is loaded, which may be another")
	}
	if len(result.Unreadable) > 0 {
		why = append(why, fmt.Sprintf("what was kept of it cannot be read from %v", result.Unreadable))
	}
	for _, err := range result.LetGo {
		why = append(why, err.Error())
	}
	return why
}

// stillAttached tells that a sandbox is on one of its networks. It must not be
// forgotten then, even if not all of its ADD succeeded.
func stillAttached(err error) bool { return errors.Is(err, netattach.ErrAttached) }
