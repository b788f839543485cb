// SPDX-License-Identifier: Apache-2.0

package netattach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	gocni "github.com/containerd/go-cni"

	"github.com/hookline-nri/hookline/internal/cri/netconf"
)

// ErrAttached is the error of a pod whose DEL has to be retried.
var ErrAttached = errors.New("still attached")

// A Pod is to be attached to networks or detached from them.
type Pod struct {
	ID string
	// NetNS is the path of the network namespace, empty if that is gone.
	NetNS string
	// Attached is whether its ADD succeeded on all networks.
	Attached bool
	// Detached is whether its DEL is known to have succeeded. If it is false, a pod without a
	// namespace may have lost that in a reboot.
	Detached bool
	// Tried is the configuration with which its ADD was tried, if that failed.
	Tried *gocni.ConfigResult
	// Overdue is whether a DEL that may never succeed has been retried for long enough.
	Overdue bool
	// Args and CapabilityArgs are those of its ADD. A DEL uses them for networks
	// without a cached attachment.
	Args           [][2]string
	CapabilityArgs map[string]any
}

// Result is the result of Detach. Loopbacks are not counted in Cached, Replaced, Loaded and
// Unreadable: they hold no resources.
type Result struct {
	// Cached is how many cached attachments the pod had.
	Cached int
	// Replaced is how many of these are of networks that are no longer loaded, or changed.
	Replaced int
	// Loaded is how many loaded networks have no cached attachment of the pod.
	Loaded int
	// Abandoned are the errors of DELs that failed, or could not be run, and are not
	// retried. The resources that they should have freed may have leaked.
	Abandoned []error
	// Ignored are the errors of networks that, as far as is known, the pod was not attached
	// to.
	Ignored []error
	// Unreadable are the paths of cached attachments that cannot be read. Their
	// resources may have leaked, if their network is not loaded.
	Unreadable []string
}

// Detach runs the DEL of a pod's networks, in reverse order of their ADDs. For each interface it
// uses the cached attachment. If there is none, it uses the network that is loaded for the
// interface, or was loaded when its ADD began. A DEL that fails does not stop the others, and
// one that hangs gets only a share of the time that ctx leaves. If the DEL of a cached
// attachment fails, the attachment stays in the cache, and the error is ErrAttached, with all
// failures.
//
// If the ADD of a network failed, each of its plugins gets a DEL, once and whatever
// the others answer: those at the head of the chain may hold an address
// (https://github.com/containerd/containerd/issues/12130). They get no result of an
// ADD, as there is none, so no other pod's address is at risk.
//
// Failures are ignored for networks that the pod is not on. An attached pod that has any cached
// attachment is on no network without one: libcni caches every ADD that succeeded. A pod with
// neither a namespace nor a cached attachment is on no network if its DEL is known to be done.
//
// Once other networks have replaced that of an attachment, and none has its name, its plugins
// may never succeed again: their DEL is abandoned if the pod is overdue. Until then it is
// retried, whatever the failure: a plugin whose binary is missing may be about to be installed.
//
// A runtime that is killed may leave a half-written cached attachment. Those that cannot be read
// are removed once no DEL is to be retried: they are of no use, and [Cache.Collect] frees
// nothing while any exist.
func (c *Cache) Detach(ctx context.Context, pod Pod, loaded *gocni.ConfigResult) (Result, error) {
	cached, unreadable, err := c.Attachments(pod.ID)
	result := Result{Unreadable: ofNetworks(unreadable, pod.ID)}
	if err != nil {
		if pod.ID == "" || pod.Attached && len(netconf.OfPods(loaded)) == 0 {
			return Result{}, err
		}
		result.Unreadable = []string{c.results} // the loaded networks have to do
	}
	d := &detachment{Cache: c, pod: pod, loaded: loaded, result: result}
	for _, a := range cached {
		d.addCached(a)
	}
	d.addLoaded(cached)
	if failures := d.run(ctx); len(failures) > 0 {
		return d.result, fmt.Errorf("%w: %w", ErrAttached, errors.Join(failures...))
	}
	for _, path := range unreadable {
		_ = os.Remove(path) // a DEL of the same name may have removed it
	}
	return d.result, nil
}

// A detachment is the DELs to run for a pod.
type detachment struct {
	*Cache
	pod       Pod
	loaded    *gocni.ConfigResult
	dels      []del
	loopbacks []del // come last
	result    Result
}

// A del is the DEL of one attachment, or of one plugin.
type del struct {
	run func(context.Context) error
	// failed is where a failure is recorded, nil if the DEL is to be retried.
	failed *[]error
	// after is run if the DEL failed and is not retried. It may be nil.
	after func()
}

func (d *detachment) add(ifName string, del del) {
	if ifName == netconf.Loopback {
		del.failed = &d.result.Ignored
		d.loopbacks = append(d.loopbacks, del)
		return
	}
	d.dels = append(d.dels, del)
}

// run runs all DELs, and returns the failures of the DELs that are to be retried.
func (d *detachment) run(ctx context.Context) (failures []error) {
	for i, del := range append(d.dels, d.loopbacks...) {
		turn, cancel := share(ctx, max(1, len(d.dels)-i))
		err := del.run(turn)
		cancel()
		switch {
		case err == nil:
		case del.failed == nil || ctx.Err() != nil:
			failures = append(failures, err)
		default:
			*del.failed = append(*del.failed, err)
			if del.after != nil {
				del.after()
			}
		}
	}
	return failures
}

// longest bounds a DEL whose caller has no deadline.
const longest = 2 * time.Minute

// share gives the next of n DELs its share of the time. A tenth is left for the caller.
func share(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithTimeout(ctx, longest)
	}
	return context.WithTimeout(ctx, time.Until(deadline)*9/10/time.Duration(n))
}
