// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/docker/go-metrics"
	"github.com/prometheus/client_golang/prometheus"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/pkg/tracing"
)

var (
	sandboxCreationsEnded       metrics.LabeledCounter
	sandboxCreationsLeft        metrics.Counter
	sandboxCreationsInterrupted metrics.Counter
	sandboxHookTimer            metrics.LabeledTimer

	// beingCreated reads the list of creations when metrics are collected.
	beingCreated = &creationCollector{}
)

func init() {
	ns := metrics.NewNamespace("containerd", "cri", nil)

	sandboxCreationsEnded = ns.NewLabeledCounter("sandbox_creations_ended", "Creations of pods that ended early, by reason: stopped or removed (by a client), exited (the sandbox process), caller_gone, plugin (an NRI plugin rejected the pod or did not answer) or failed (anything else)", "reason")
	sandboxCreationsLeft = ns.NewCounter("sandbox_creations_left", "Creations of pods whose roll-back failed. Such a pod stays in the list, not ready, until it is removed")
	sandboxCreationsInterrupted = ns.NewCounter("sandbox_creations_interrupted", "Pods found at start whose creation was interrupted by the end of containerd")
	sandboxHookTimer = ns.NewLabeledTimer("sandbox_hook", "Time that creations and stops of pods waited for all NRI plugins together, by operation: RunPodSandbox, StopContainer or StopPodSandbox", "operation")

	beingCreated.count = ns.NewDesc("sandboxes_being_created", "Pods that are being created now", "")
	beingCreated.oldest = ns.NewDesc("sandboxes_being_created_oldest", "Time since the start of the oldest creation of a pod that is under way, 0 if none is", metrics.Seconds)
	ns.Add(beingCreated)

	metrics.Register(ns)
}

// countCreation counts a creation that ended early, and one whose roll-back failed.
func countCreation(caller context.Context, err, left error) {
	if err == nil {
		return
	}
	sandboxCreationsEnded.WithValues(endOfCreation(caller, err)).Inc()
	if left != nil {
		sandboxCreationsLeft.Inc()
	}
}

// endOfCreation returns the reason why a creation ended early. If the caller canceled, the
// plugin has not rejected the pod.
func endOfCreation(caller context.Context, err error) string {
	var by *sandboxstore.Interruption
	interrupted := errors.As(err, &by)
	switch {
	case interrupted && by.By != byPlugin:
		return by.By
	case caller.Err() != nil:
		return "caller_gone"
	case interrupted:
		return by.By
	}
	return "failed"
}

const byPlugin = "plugin"

// runHook asks the plugins to approve a new sandbox.
func (c *criService) runHook(ctx context.Context, sandbox *sandboxstore.Sandbox) error {
	_, err := timed(ctx, "RunPodSandbox", func(ctx context.Context) error { return c.nri.RunPodSandbox(ctx, sandbox) })
	if err != nil {
		return &sandboxstore.Interruption{By: byPlugin, Err: err}
	}
	return nil
}

// leftOut runs a hook, and moves the start of a measurement on by the time of the hook.
func leftOut(ctx context.Context, start *time.Time, operation string, hook func(context.Context) error) error {
	took, err := timed(ctx, operation, hook)
	*start = start.Add(took)
	return err
}

// timed runs a hook as a span.
func timed(ctx context.Context, operation string, hook func(context.Context) error) (time.Duration, error) {
	ctx, span := tracing.StartSpan(ctx, tracing.Name("nri", operation))
	defer span.End()
	began := time.Now()
	err := hook(ctx)
	took := time.Since(began)
	sandboxHookTimer.WithValues(operation).Update(took)
	span.SetStatus(err)
	return took, err
}

// countInterrupted counts the recovered sandboxes that were never ready.
func (c *criService) countInterrupted() {
	for _, sb := range c.sandboxStore.List() {
		if sb.Status.Get().Phase == sandboxstore.PhaseCreating {
			sandboxCreationsInterrupted.Inc()
		}
	}
}

// creationCollector collects the number of sandboxes being created and the age of the oldest.
type creationCollector struct {
	count, oldest *prometheus.Desc
	creations     atomic.Pointer[sandboxstore.Creations]
}

// of sets the creations to collect.
func (c *creationCollector) of(creations *sandboxstore.Creations) { c.creations.Store(creations) }

// Describe implements prometheus.Collector.
func (c *creationCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.count
	descs <- c.oldest
}

// Collect implements prometheus.Collector.
func (c *creationCollector) Collect(values chan<- prometheus.Metric) {
	creations := c.creations.Load()
	if creations == nil {
		return
	}
	list := creations.List() // oldest first
	var age float64
	if len(list) > 0 {
		age = time.Since(list[0].Since).Seconds()
	}
	values <- prometheus.MustNewConstMetric(c.count, prometheus.GaugeValue, float64(len(list)))
	values <- prometheus.MustNewConstMetric(c.oldest, prometheus.GaugeValue, age)
}
