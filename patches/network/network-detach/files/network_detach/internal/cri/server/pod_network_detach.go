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

// detachPod runs CNI DEL for a sandbox with libcni's cached attachments, or else with the loaded
// configuration (N3). path is the path of the network namespace, empty if it does not exist any
// more.
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
	pod.Detached = sandbox.Status.Get().Detached
	pod.Overdue = c.detachOverdue(&sandbox)
	result, err := network.Detach(ctx, pod)
	networkCachedDels.Inc(float64(result.Replaced))
	if err != nil {
		c.detachFailed(ctx, &sandbox)
		return err // the caller retries
	}
	_ = sandbox.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		status.Detached = true
		return status, nil
	}) // it only returns the function's error
	logger := log.G(ctx).WithField("podsandboxid", sandbox.ID)
	if len(result.Ignored) > 0 {
		logger.WithError(errors.Join(result.Ignored...)).Debugf("DEL of sandbox %q failed on networks that it is not attached to", sandbox.Name)
	}
	interrupted := !pod.Attached && sandbox.Status.Get().CreatedAt.Before(network.Began())
	if leaks := mayLeak(pod, result, interrupted); len(leaks) > 0 {
		networkRemovedWithoutDel.Inc()
		logger.Warnf("sandbox %q is removed without a successful DEL, and its addresses %v may have leaked: %s",
			sandbox.Name, append([]string{sandbox.IP}, sandbox.AdditionalIPs...), strings.Join(leaks, "; "))
	}
	return nil
}

// mayLeak returns the reasons why addresses of a detached pod may have leaked. A pod without a
// namespace was detached and reported before.
func mayLeak(pod netattach.Pod, result netattach.Result, interrupted bool) (why []string) {
	switch {
	case result.Cached > 0 || pod.NetNS == "" || !pod.Attached && !interrupted:
	case interrupted:
		why = append(why, "its creation was interrupted, and its network may be another than the loaded one")
	case result.Loaded == 0:
		why = append(why, "it has no cached attachment, and no network is loaded")
	default:
		why = append(why, "it has no cached attachment, and DEL went to the loaded network, which may be another")
	}
	if len(result.Unreadable) > 0 {
		why = append(why, fmt.Sprintf("its cached attachments cannot be read: %v", result.Unreadable))
	}
	for _, err := range result.Abandoned {
		why = append(why, err.Error())
	}
	return why
}

// stillAttached reports whether a sandbox is on one of its networks. It must not be forgotten
// then, even if some ADD failed.
func stillAttached(err error) bool { return errors.Is(err, netattach.ErrAttached) }
