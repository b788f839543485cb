// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// calls records the CRI requests that change something. Each carries the trace of the case in
// W3C's header, so that the spans of a runtime that traces join it. calls also keeps the slowest of
// all requests.
type calls struct {
	now func() time.Time // the clock that measures requests

	mu    sync.Mutex // guards the fields below
	trace string
	made  []report.Call
	// slowest is the slowest of all calls, also of those that change nothing.
	slowest report.Call
	lost    bool // the runtime disconnected during a call, or was not running
}

// begin starts a record, and returns the id of its trace.
func (c *calls) begin() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trace, c.made, c.slowest, c.lost = randomID(16), nil, report.Call{}, false
	return c.trace
}

// did records a command that stopped, killed or started the runtime.
func (c *calls) did(what string, start time.Time, err error) {
	call := report.Call{Name: what, Of: report.OfRuntime, Start: start, End: c.now(), Span: randomID(8)}
	if err != nil {
		call.Error = err.Error()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, call)
}

// take returns the record, the slowest of all calls, and whether the runtime ended by itself.
func (c *calls) take() (made []report.Call, slowest report.Call, lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended := slices.ContainsFunc(c.made, func(call report.Call) bool { return call.Of == report.OfRuntime })
	return slices.Clone(c.made), c.slowest, c.lost && !ended
}

func randomID(bytes int) string {
	id := make([]byte, bytes)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// intercept is a grpc.UnaryClientInterceptor.
func (c *calls) intercept(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	name := method[strings.LastIndex(method, "/")+1:]
	of, changes := subject(request)
	c.mu.Lock()
	trace := c.trace
	c.mu.Unlock()
	call := report.Call{Name: name, Of: of, Start: c.now(), Span: randomID(8)}
	if changes {
		ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", fmt.Sprintf("00-%s-%s-01", trace, call.Span))
	}
	err := invoke(ctx, method, request, reply, conn, options...)
	call.End = c.now()
	if err != nil {
		call.Error = err.Error()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trace != trace { // the call is of an earlier case
		return err
	}
	c.lost = c.lost || status.Code(err) == codes.Unavailable
	if changes {
		c.made = append(c.made, call)
	}
	if call.End.Sub(call.Start) > c.slowest.End.Sub(c.slowest.Start) {
		c.slowest = call
	}
	return err
}

// subject is the pod or container of a request that changes something.
func subject(request any) (of string, changes bool) {
	switch r := request.(type) {
	case *runtime.RunPodSandboxRequest:
		return r.GetConfig().GetMetadata().GetName(), true
	case *runtime.CreateContainerRequest:
		return r.GetConfig().GetMetadata().GetName(), true
	case *runtime.StopPodSandboxRequest:
		return short(r.GetPodSandboxId()), true
	case *runtime.RemovePodSandboxRequest:
		return short(r.GetPodSandboxId()), true
	case *runtime.UpdatePodSandboxResourcesRequest:
		return short(r.GetPodSandboxId()), true
	case *runtime.StartContainerRequest:
		return short(r.GetContainerId()), true
	case *runtime.StopContainerRequest:
		return short(r.GetContainerId()), true
	case *runtime.RemoveContainerRequest:
		return short(r.GetContainerId()), true
	case *runtime.UpdateContainerResourcesRequest:
		return short(r.GetContainerId()), true
	}
	return "", false
}

// short is the beginning of an id, long enough to identify it in a report.
func short(id string) string { return id[:min(len(id), 13)] }

// Connections converts the records of a plugin for the report.
func Connections(p fixture.Recorded) (all []report.Connection) {
	for _, record := range p.Calls().Connections() {
		c := report.Connection{Plugin: p.Name(), Number: record[0].Connection}
		for _, call := range record {
			c.Events = append(c.Events, event(call))
		}
		all = append(all, c)
	}
	return all
}

func event(call plugin.Call) report.Event {
	e := report.Event{
		Name: string(call.Event), Pod: call.Pod.GetName(), Container: call.Container.GetName(),
		Start: call.Start, Abandoned: call.Abandoned != nil,
	}
	if call.Event == plugin.Synchronize {
		e.Pod = fmt.Sprintf("%d pods, %d containers", len(call.Pods), len(call.Containers))
	}
	if !call.End.IsZero() {
		e.End = &call.End
	}
	if call.Err != nil {
		e.Error = call.Err.Error()
	}
	return e
}
