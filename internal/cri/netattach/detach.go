// SPDX-License-Identifier: Apache-2.0

package netattach

import (
	"context"
	"errors"
	"fmt"
	"time"

	gocni "github.com/containerd/go-cni"

	"github.com/hookline-nri/hookline/internal/cri/netconf"
)

// ErrAttached is the error of a pod that is to be taken off its networks again.
var ErrAttached = errors.New("still attached")

// A Pod is who is attached to networks and taken off them.
type Pod struct {
	ID string
	// NetNS is the path of the network namespace, empty if that is gone.
	NetNS string
	// Attached tells that its ADD succeeded, on all networks.
	Attached bool
	// Tried is what was loaded when its ADD began, if that failed.
	Tried *gocni.ConfigResult
	// Overdue tells that it has been tried for long enough, where that may not
	// end.
	Overdue bool
	// Args and CapabilityArgs are those of its ADD. A DEL uses them for networks
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
	// LetGo are the DELs that failed, or could not be run, and are not tried
	// again. What they stood for may have leaked.
	LetGo []error
	// Ignored are those of networks that the pod was not on, as far as is known.
	Ignored []error
	// Unreadable are the paths of files that should tell of an attachment and do
	// not. What they stood for may have leaked, if its network is not loaded.
	Unreadable []string
}

// Detach takes a pod off its networks, the last that was attached first. For
// each interface that is what was kept of its ADD, and if nothing was, the
// network that is loaded for it, or was when its ADD began. One that fails keeps
// none of the others, and one that hangs has a share of the time that ctx leaves.
// What was kept and failed stays kept: the error is ErrAttached then, with all
// that failed.
//
// Of a network whose ADD failed each plugin gets its DEL, once and whatever the
// others answer: those at the head of its chain may hold an address
// (https://github.com/containerd/containerd/issues/12130). There is no result
// of an ADD that could be given to them, so no one else's address is at risk.
//
// A pod that is attached and has something kept was not on a network of which
// nothing is: libcni keeps every ADD that succeeded. Nor is one that has neither
// a namespace nor anything kept on any: its DEL was done. What fails then is of no
// consequence.
//
// Once networks are loaded in the place of those of an attachment, its plugins may
// never succeed again: they are let go if their binary is gone, or if the pod is
// overdue.
func (k *Kept) Detach(ctx context.Context, pod Pod, loaded *gocni.ConfigResult) (Result, error) {
	kept, unreadable, err := k.Attachments(pod.ID)
	if err != nil {
		if pod.Attached || pod.ID == "" {
			return Result{}, err
		}
		unreadable = []string{k.results} // nothing was kept of an ADD that failed
	}
	d := &detachment{Kept: k, pod: pod, loaded: loaded, result: Result{Unreadable: unreadable}}
	for _, a := range kept {
		d.addKept(a)
	}
	d.addLoaded(kept)
	if failures := d.run(ctx); len(failures) > 0 {
		return d.result, fmt.Errorf("%w: %w", ErrAttached, errors.Join(failures...))
	}
	return d.result, nil
}

// A detachment is what has to be run for a pod.
type detachment struct {
	*Kept
	pod       Pod
	loaded    *gocni.ConfigResult
	dels      []del
	loopbacks []del // come last
	result    Result
}

// A del is the DEL of one attachment, or of one plugin.
type del struct {
	run func(context.Context) error
	// failed is where a failure goes, and nil if it is tried again.
	failed *[]error
	// after is run if it is not, and may be nil.
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

// run runs all, and returns the failures of those that are to be tried again.
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

// longest is for a DEL whose caller would wait for ever.
const longest = 2 * time.Minute

// share gives the next of n DELs its part of the time. A tenth is left for what
// comes after them.
func share(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithTimeout(ctx, longest)
	}
	return context.WithTimeout(ctx, time.Until(deadline)*9/10/time.Duration(n))
}
