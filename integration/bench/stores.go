// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/nri/pkg/api"
	"golang.org/x/sync/errgroup"

	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// A node as the kubelet fills it by default, with many plugins.
const (
	storePods    = 110
	storePlugins = 10

	storeContainers = 3 // of a pod whose ends are missed
)

// missedBytes is the default of the setting missed_events_bytes.
const missedBytes = 64 << 20

// longText is an annotation that is kept of a pod and of a container, with what containerd adds: 8 KiB
// at most.
var longText = map[string]string{"example.com/long": strings.Repeat("x", 7000)}

// storeRows are the figures of stores.
type storeRows struct{ calm, waiting, missed, anonymous, restarted, missedFile, phases Row }

func newStoreRows() *storeRows {
	memory := func(what, of string) Row {
		return Row{What: "Resident memory of containerd, " + what, Name: "StoreMemory/" + of, Unit: "B"}
	}
	file := func(what, of string) Row { return Row{What: what, Name: "StoreFiles/" + of, Unit: "B"} }
	return &storeRows{
		calm:       memory(fmt.Sprintf("%d pods and %d plugins", storePods, storePlugins), "calm"),
		waiting:    memory(fmt.Sprintf("after the ends of all pods, which wait for all %d plugins", storePlugins), "waiting"),
		missed:     memory("missed events at their limit", "missed"),
		anonymous:  memory("the same without mapped files, which the kernel can drop", "anonymous"),
		restarted:  memory("missed events at their limit, after a restart", "restarted"),
		missedFile: file("File of missed events at the limit", "missed"),
		phases:     file(fmt.Sprintf("Files of %d stopped pods in sandbox-phases (their content)", storePods), "phases"),
	}
}

// stores measures what hookline keeps beside stock, at its limits: the memory of containerd and the
// files of its stores.
func (b *bench) stores(ctx context.Context) (_ []Row, retErr error) {
	one := *b
	one.Counts.NodePods = storePods
	p, err := one.filled(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	r := newStoreRows()
	if err := p.both(func(s *side) error { return s.calm(ctx, r.calm.of(s)) }); err != nil {
		return nil, err
	}
	end := b.step("%d plugins hang while all pods are stopped and removed", storePlugins)
	err = p.patched.waiting(ctx, &r.waiting.Patched, &r.phases.Patched)
	end()
	if err != nil {
		return nil, err
	}
	if err := b.missMuch(ctx, p.patched); err != nil {
		return nil, err
	}
	if err := p.patched.missedAtLimit(ctx, r); err != nil {
		return nil, err
	}
	return []Row{r.calm, r.waiting, r.missed, r.anonymous, r.restarted, r.missedFile, r.phases}, nil
}

// missedAtLimit measures what the missed events take, before and after a restart.
func (s *side) missedAtLimit(ctx context.Context, r *storeRows) error {
	var goroutines Sample
	if err := s.measure(ctx, &r.missed.Patched, &goroutines); err != nil {
		return err
	}
	anonymous, err := s.AnonymousMemory()
	if err != nil {
		return err
	}
	r.anonymous.Patched = Sample{float64(anonymous)}
	if err := s.Stop(ctx); err != nil {
		return err
	}
	if err := s.Boot(ctx); err != nil {
		return err
	}
	if err := s.measure(ctx, &r.restarted.Patched, &goroutines); err != nil {
		return err
	}
	size, err := sizeBelow(s.missedFile())
	r.missedFile.Patched = Sample{size}
	return err
}

// calm measures a side with all plugins connected and nothing to do.
func (s *side) calm(ctx context.Context, memory *Sample) error {
	defer s.disconnect()
	if err := s.connectAll(ctx, "calm", func(*plugin.Plugin) {}); err != nil {
		return err
	}
	var goroutines Sample
	return s.measure(ctx, memory, &goroutines)
}

func (s *side) connectAll(ctx context.Context, name string, change func(*plugin.Plugin)) error {
	for i := range storePlugins {
		p := plugin.New(fmt.Sprintf("%02d", i+1), name)
		change(p)
		if err := s.connect(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// waiting stops and removes all pods of the node while no plugin answers, and measures once all ends
// wait.
func (s *side) waiting(ctx context.Context, memory, phases *Sample) error {
	defer s.disconnect()
	answer := make(chan struct{})
	defer close(answer)
	hang := func(context.Context, *plugin.Call) error {
		<-answer
		return nil
	}
	if err := s.connectAll(ctx, "hangs", func(p *plugin.Plugin) {
		p.FailurePolicy(&api.FailurePolicy{KeepConnected: true})
		p.On(plugin.StopPodSandbox, hang)
	}); err != nil {
		return err
	}
	pods, err := s.CRI().Pods(ctx)
	if err != nil {
		return err
	}
	var ids []string
	for _, p := range pods {
		ids = append(ids, p.GetId())
	}
	if err := s.each(ctx, ids, s.CRI().StopPod); err != nil {
		return err
	}
	size, err := sizeBelow(filepath.Join(s.Folder(), "state", "io.containerd.grpc.v1.cri", "sandbox-phases"))
	if err != nil {
		return err
	}
	*phases = append(*phases, size)
	if err := s.each(ctx, ids, s.CRI().RemovePod); err != nil {
		return err
	}
	var goroutines Sample
	return s.measure(ctx, memory, &goroutines)
}

// each sends a request for each pod, some at a time.
func (s *side) each(ctx context.Context, ids []string, request func(context.Context, string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for _, id := range ids {
		group.Go(func() error { return request(ctx, id) })
	}
	return group.Wait()
}

// missMuch has plugins miss ends until their bytes are at the limit. Each plugin knows a full node
// when it disconnects.
func (b *bench) missMuch(ctx context.Context, s *side) error {
	var reached float64
	for i := range storePlugins {
		end := b.step("plugin %d of %d disconnects, and misses the ends of %d pods", i+1, storePlugins, storePods)
		err := s.missNode(ctx, i)
		end()
		if err != nil {
			return err
		}
		bytes, err := s.Metrics(ctx, "containerd_nri_missed_events_bytes")
		if err != nil {
			return err
		}
		if reached = bytes[""]; reached > 0.99*missedBytes {
			return nil
		}
	}
	return fmt.Errorf("missed events of all plugins have %.0f bytes, below the limit of %d", reached, missedBytes)
}

// missNode runs the pods of a node, each with containers, and ends them while a plugin that knows
// them is disconnected.
func (s *side) missNode(ctx context.Context, nth int) error {
	p := plugin.New(fmt.Sprintf("%02d", nth+1), "misses")
	if err := s.connect(ctx, p); err != nil {
		return err
	}
	var names []string
	for i := range storePods {
		names = append(names, fmt.Sprintf("missed-%d-%d", nth, i))
	}
	ids := make(chan string, len(names))
	if err := s.each(ctx, names, func(ctx context.Context, name string) error {
		id, err := s.large(ctx, name)
		ids <- id
		return err
	}); err != nil {
		return err
	}
	close(ids)
	s.disconnect()
	if err := s.awaitDisconnected(ctx, p.Name()); err != nil {
		return err
	}
	var pods []string
	for id := range ids {
		pods = append(pods, id)
	}
	return s.each(ctx, pods, s.end)
}

// large runs a pod with containers, each with much text.
func (s *side) large(ctx context.Context, name string) (string, error) {
	pod := s.hostPod(name)
	pod.Annotations = longText
	id, err := s.CRI().RunPod(ctx, pod)
	if err != nil {
		return "", err
	}
	for i := range storeContainers {
		container := s.CRI().Container(fmt.Sprintf("main-%d", i))
		container.Annotations = longText
		created, err := s.CRI().Create(ctx, id, pod, container)
		if err != nil {
			return "", err
		}
		if err := s.CRI().Start(ctx, created); err != nil {
			return "", err
		}
	}
	return id, nil
}

func (s *side) missedFile() string {
	return filepath.Join(s.Folder(), "root", "io.containerd.nri.v1.nri", "missed-events.db")
}

// sizeBelow returns the bytes of a file, or of all files of a folder, once they no longer change.
func sizeBelow(name string) (float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	last := int64(-1)
	err := wait.Until(ctx, name+" to be written", func(context.Context) error {
		var size int64
		err := filepath.WalkDir(name, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				size += info.Size()
			}
			return err
		})
		if err == nil && size != last {
			last, err = size, errors.New("it changes")
		}
		return err
	})
	return float64(last), err
}
