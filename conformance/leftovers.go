// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/cri"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// takeBaseline records everything that exists without pods.
func (a *attached) takeBaseline(ctx context.Context) error {
	left, err := a.inventory(ctx)
	a.baseline = map[cri.Leftover]bool{}
	for _, l := range left {
		a.baseline[l] = true
	}
	return err
}

// Leftovers lists everything that did not exist before the case.
func (a *attached) Leftovers(ctx context.Context) (left []cri.Leftover, err error) {
	all, err := a.inventory(ctx)
	for _, l := range all {
		if !a.baseline[l] {
			left = append(left, l)
		}
	}
	return left, err
}

func (a *attached) inventory(ctx context.Context) ([]cri.Leftover, error) {
	if a.options.Left != nil {
		return a.options.Left(ctx)
	}
	left, err := a.cri.Left(ctx)
	if err != nil || a.options.State == "" {
		return left, err
	}
	for kind, pattern := range map[string]string{
		"address":    filepath.Join(a.options.State, "networks", "*", "[0-9]*"),
		"attachment": filepath.Join(a.options.State, "results", "*"),
	} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			left = append(left, cri.Leftover{Kind: kind, Name: file})
		}
	}
	return left, nil
}

// clean removes all pods that a case has left, and waits until the runtime shows none of the
// case's plugins. If the runtime fails to remove them, clean first restarts it, if that is
// possible.
func (a *attached) clean(ctx context.Context) error {
	err := a.removeAll(ctx)
	if err != nil && a.options.Kill != nil {
		err = errors.Join(a.restart(ctx), a.removeAll(ctx))
	}
	if err == nil && a.shows {
		a.sendOff(ctx)
	}
	return err
}

// sendOff waits until the runtime has noticed that the plugins of a case have disconnected, and
// keeps nothing for them. Some cases assert which plugins are shown; they find one that stays.
func (a *attached) sendOff(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_ = wait.Until(ctx, "plugins of the case to be gone", func(ctx context.Context) error {
		s, err := a.cri.Runtime.Status(ctx, &runtime.StatusRequest{Verbose: true})
		if err != nil {
			return err
		}
		var info fixture.NRIInfo
		if err := json.Unmarshal([]byte(s.GetInfo()["nri"]), &info); err != nil {
			return err
		}
		for _, p := range info.Plugins {
			if a.plugins.has(p.Index + "-" + p.Name) {
				return fmt.Errorf("%s-%s is shown", p.Index, p.Name)
			}
		}
		for _, p := range info.DisconnectedPlugins {
			if a.plugins.has(p.Name) {
				err = errors.Join(err, fmt.Errorf("missed events are kept for %s", p.Name), a.wantNothing(ctx, p.Name))
			}
		}
		return err
	})
}

// wantNothing makes the runtime forget the missed events of a name: a plugin of that name connects
// and subscribes to no ends. Kept names leave fewer places for other plugins.
func (a *attached) wantNothing(ctx context.Context, name string) error {
	index, name, _ := strings.Cut(name, "-")
	p := plugin.New(index, name)
	p.Subscribe(plugin.RunPodSandbox)
	defer p.Crash()
	return p.Connect(ctx, a.options.NRI)
}

// removeAll removes one pod after the other, each within half a minute: on a busy machine many
// pods take longer than a few.
func (a *attached) removeAll(ctx context.Context) error {
	for {
		pods, err := a.pods(ctx)
		if err != nil || len(pods) == 0 {
			return err
		}
		if err := a.removeOne(ctx, pods[0]); err != nil {
			return err
		}
	}
}

// removeOne returns when the runtime no longer lists the pod.
func (a *attached) removeOne(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return wait.Until(ctx, "pod "+id+" to be gone", func(ctx context.Context) error {
		if err := errors.Join(a.cri.StopPod(ctx, id), a.cri.RemovePod(ctx, id)); err != nil {
			return err
		}
		pods, err := a.pods(ctx)
		if err == nil && slices.Contains(pods, id) {
			err = errors.New("it is listed after its removal")
		}
		return err
	})
}

// pods returns the ids of the pods that the runtime lists.
func (a *attached) pods(ctx context.Context) (ids []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	listed, err := a.cri.Pods(ctx)
	for _, pod := range listed {
		ids = append(ids, pod.GetId())
	}
	return ids, err
}
