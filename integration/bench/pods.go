// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/testkit/cri"
)

// timed returns the time of a request.
func timed(request func() error) (time.Duration, error) {
	start := time.Now()
	err := request()
	return time.Since(start), err
}

// live runs a pod, and stops and removes it. It returns the time of the start.
func (s *side) live(ctx context.Context, name string) (time.Duration, error) {
	return lifeOf(ctx, s.CRI(), s.CRI().Pod(name), 0)
}

// lifeOf is the life of a pod that runs for a while.
func lifeOf(ctx context.Context, client *cri.Client, pod *runtime.PodSandboxConfig, runs time.Duration) (time.Duration, error) {
	var id string
	took, err := timed(func() (err error) { id, err = client.RunPod(ctx, pod); return err })
	if err != nil {
		return took, err
	}
	select {
	case <-time.After(runs):
	case <-ctx.Done():
	}
	return took, endOf(ctx, client, id)
}

// endOf stops and removes a pod.
func endOf(ctx context.Context, client *cri.Client, id string) error {
	if err := client.StopPod(ctx, id); err != nil {
		return err
	}
	return client.RemovePod(ctx, id)
}

func (s *side) end(ctx context.Context, id string) error { return endOf(ctx, s.CRI(), id) }

// rateOf is the number of pods per second that a runtime runs for a while each, atOnce at a time,
// and stops and removes.
func rateOf(ctx context.Context, client *cri.Client, pods int, runs time.Duration) (perSecond float64, err error) {
	took, err := timed(func() error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		for i := range pods {
			group.Go(func() error {
				_, err := lifeOf(ctx, client, client.Pod(fmt.Sprintf("pod-%d", i)), runs)
				return err
			})
		}
		return group.Wait()
	})
	return float64(pods) / took.Seconds(), err
}

// warm runs a pod: the first one of a runtime is slower.
func (s *side) warm(ctx context.Context) error {
	_, err := s.live(ctx, "warm")
	return err
}

// hostPod is a pod on the host's network, which takes no address.
func (s *side) hostPod(name string) *runtime.PodSandboxConfig {
	pod := s.CRI().Pod(name)
	pod.Hostname = ""
	pod.Linux.SecurityContext.NamespaceOptions.Network = runtime.NamespaceMode_NODE
	return pod
}
