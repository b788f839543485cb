// SPDX-License-Identifier: Apache-2.0

// Package record is the format of the record that the tests' plugin writes on a node and the tests
// read: a line of JSON for each event, and another one for its answer. A record has all processes
// of a plugin, one after the other or concurrent.
package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/nri/pkg/api"

	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/podstate"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Object is a pod, or a container of one.
type Object struct {
	ID        string
	Name      string
	Namespace string            `json:",omitempty"` // of a pod
	UID       string            `json:",omitempty"` // of a pod
	Pod       string            `json:",omitempty"` // of a container: the ID of its pod
	State     podstate.State    `json:",omitempty"` // of a pod
	Announced *podresources.Pod `json:",omitempty"` // of a pod
	Quota     int64             `json:",omitempty"` // CPU time in microseconds for each period
}

// Line is the begin or the end of a call.
type Line struct {
	Process    string // that received it
	Number     int    // of the call in that process, from 1
	Connection int    // of that process, from 1
	Event      plugin.Event
	Pod        *Object  `json:",omitempty"`
	Container  *Object  `json:",omitempty"`
	Pods       []Object `json:",omitempty"`
	Containers []Object `json:",omitempty"`
	Quota      int64    `json:",omitempty"` // of an update: CPU time in microseconds for each period
	Start      time.Time
	End        time.Time `json:",omitzero"`
	Err        string    `json:",omitempty"`
}

// Begin is the line of a call that was just received.
func Begin(process string, number int, call *plugin.Call) Line {
	l := Line{Process: process, Number: number, Connection: call.Connection, Event: call.Event, Start: time.Now()}
	l.Quota = quotaOf(call.Resources)
	if call.Pod != nil {
		l.Pod = ofPod(call.Pod)
	}
	if call.Container != nil {
		l.Container = ofContainer(call.Container)
	}
	for _, p := range call.Pods {
		l.Pods = append(l.Pods, *ofPod(p))
	}
	for _, c := range call.Containers {
		l.Containers = append(l.Containers, *ofContainer(c))
	}
	return l
}

// Ended is the line of the same call when it is answered.
func (l Line) Ended(err error) Line {
	l.Pods, l.Containers, l.End = nil, nil, time.Now()
	if err != nil {
		l.Err = err.Error()
	}
	return l
}

func ofPod(p *api.PodSandbox) *Object {
	return &Object{
		ID: p.GetId(), Name: p.GetName(), Namespace: p.GetNamespace(), UID: p.GetUid(),
		State: podstate.FromPod(p), Announced: podresources.FromPod(p), Quota: quotaOf(p.GetLinux().GetPodResources()),
	}
}

func ofContainer(c *api.Container) *Object {
	return &Object{ID: c.GetId(), Name: c.GetName(), Pod: c.GetPodSandboxId(), Quota: quotaOf(c.GetLinux().GetResources())}
}

func quotaOf(r *api.LinuxResources) int64 { return r.GetCpu().GetQuota().GetValue() }

func withQuota(quota int64) *api.LinuxResources {
	return &api.LinuxResources{Cpu: &api.LinuxCPU{Quota: api.Int64(quota)}}
}

// Process is the record of one process of a plugin.
type Process struct {
	ID    string
	Calls plugin.Calls
	Lines []Line // of the calls, with their ends
}

// Read reads a record, process by process in the order of their begin. The last line may be
// incomplete.
func Read(text []byte) ([]Process, error) {
	var processes []Process
	place := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var l Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			if !bytes.HasSuffix(text, append(lines.Bytes(), '\n')) && bytes.HasSuffix(text, lines.Bytes()) {
				break // it is being written
			}
			return nil, fmt.Errorf("read line %q of a record: %w", lines.Text(), err)
		}
		i, known := place[l.Process]
		if !known {
			i = len(processes)
			place[l.Process] = i
			processes = append(processes, Process{ID: l.Process})
		}
		processes[i].take(l)
	}
	return processes, lines.Err()
}

// Stopped returns the pods that the process received in Synchronize as stopped, with the time at
// which they were stopped at the latest.
func (p Process) Stopped() map[string]time.Time {
	stopped := map[string]time.Time{}
	for _, l := range p.Lines {
		for _, pod := range l.Pods {
			if pod.State == podstate.Stopped {
				stopped[pod.ID] = l.Start.Add(-1)
			}
		}
	}
	return stopped
}

// take adds the begin or the end of a call.
func (p *Process) take(l Line) {
	if l.Number > len(p.Lines) {
		p.Lines = append(p.Lines, l)
		p.Calls = append(p.Calls, l.call())
		return
	}
	p.Lines[l.Number-1].End, p.Lines[l.Number-1].Err = l.End, l.Err
	p.Calls[l.Number-1].End = l.End
	if l.Err != "" {
		p.Calls[l.Number-1].Err = errors.New(l.Err)
	}
}

// call converts a line for package history.
func (l Line) call() plugin.Call {
	c := plugin.Call{Event: l.Event, Connection: l.Connection, Start: l.Start, End: l.End}
	if l.Quota != 0 {
		c.Resources = withQuota(l.Quota)
	}
	if l.Pod != nil {
		c.Pod = l.Pod.pod()
	}
	if l.Container != nil {
		c.Container = l.Container.container()
	}
	for _, p := range l.Pods {
		c.Pods = append(c.Pods, p.pod())
	}
	for _, o := range l.Containers {
		c.Containers = append(c.Containers, o.container())
	}
	return c
}

func (o Object) pod() *api.PodSandbox {
	return &api.PodSandbox{
		Id: o.ID, Name: o.Name, Namespace: o.Namespace, Uid: o.UID,
		Linux: &api.LinuxPodSandbox{PodResources: withQuota(o.Quota)},
	}
}

func (o Object) container() *api.Container {
	return &api.Container{
		Id: o.ID, Name: o.Name, PodSandboxId: o.Pod,
		Linux: &api.LinuxContainer{Resources: withQuota(o.Quota)},
	}
}
