// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/cases"
	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/integration/cri"
	"github.com/hookline-nri/hookline/integration/pause/idle"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/hookline-nri/hookline/integration/proc"
	"github.com/hookline-nri/hookline/integration/wait"
	"github.com/hookline-nri/hookline/podresources"
)

// attached is a runtime that is there, by its sockets.
type attached struct {
	options               Options
	calls                 *calls
	cri                   *cri.Client
	request, registration time.Duration
	nriVersion            string
	shows, announces      bool
	processes             bool   // plugins are told of a process of a pod's sandbox
	events, requires      bool   // CRI's container events are sent; fixture.RequiredPlugin is required
	network               string // what the cases of the network lack
	baseline              map[cri.Leftover]bool
	plugins               *plugins
	slowest               report.Call // of the case that ran last
}

// attach connects to the runtime, which is probed after that.
func attach(o Options, image string) (*attached, error) {
	a := &attached{options: o, calls: &calls{}, plugins: &plugins{of: map[string]string{}}}
	var err error
	a.cri, err = cri.Dial(o.CRI, image, o.CgroupParent, grpc.WithUnaryInterceptor(a.calls.intercept))
	if err != nil {
		return nil, err
	}
	a.cri.Handler = o.Handler
	return a, nil
}

// reach finds the runtime, before it is asked for anything else. It has to have no pods: the
// cases count what plugins are told.
func (o Options) reach(ctx context.Context) (err error) {
	if o.CNIBin != "" { // a run before may have been killed
		if err := fixture.RestoreNetwork(o.CNIBin, o.CNIConf); err != nil {
			return fmt.Errorf("put back the network configuration that a run before put aside: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, err := cri.Dial(o.CRI, "", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	left, err := c.Left(ctx)
	if err != nil {
		return fmt.Errorf("ask the runtime at %s for its pods: %w", o.CRI, err)
	}
	if len(left) > 0 {
		return fmt.Errorf("the runtime has %d pods and containers, and the cases count what plugins are told: stop the kubelet and remove them (crictl rmp --all --force)", len(left))
	}
	return nil
}

// probe takes a pod through a life with a plugin that looks.
func (a *attached) probe(ctx context.Context) error {
	p := plugin.New("00", "conformance-probe-"+newEnd())
	defer p.Crash()
	if err := p.Connect(ctx, a.options.NRI); err != nil {
		return fmt.Errorf("register a plugin at %s: %w", a.options.NRI, err)
	}
	a.request, a.registration = p.Timeouts()
	a.nriVersion = p.NRIVersion()
	fixture.Moments = max(fixture.Moments, a.request*5/6)
	pod := a.cri.Pod("conformance-probe")
	if err := podresources.SetPod(pod, podresources.Pod{Containers: []podresources.Container{{Name: "main", Type: podresources.MainContainer}}}); err != nil {
		return err
	}
	id, err := a.cri.RunPod(ctx, pod)
	if err != nil {
		return fmt.Errorf("a pod does not come up, before any case: %w", err)
	}
	told := p.Calls().Of(id).Only(plugin.RunPodSandbox)
	if len(told) == 0 {
		return fmt.Errorf("a plugin was not told of pod %s: is NRI of the runtime at %s the one at %s?", id, a.options.CRI, a.options.NRI)
	}
	a.announces, a.processes = podresources.FromPod(told[0].Pod) != nil, told[0].Pod.GetPid() > 0
	verbose, err := a.cri.Runtime.Status(ctx, &runtime.StatusRequest{Verbose: true})
	if err != nil {
		return fmt.Errorf("ask the runtime for its status, before any case: %w", err)
	}
	var info fixture.NRIInfo
	text, shows := verbose.GetInfo()["nri"]
	if a.shows = shows; shows {
		if err := json.Unmarshal([]byte(text), &info); err != nil {
			return fmt.Errorf("read \"nri\" of the runtime's verbose status: %w", err)
		}
	}
	a.requires = a.options.MustRun
	for _, p := range info.RequiredPlugins {
		a.requires = a.requires || p.Name == fixture.RequiredPlugin
	}
	a.network = a.lacksNetwork()
	container, err := a.cri.Create(ctx, id, pod, a.cri.Container("main"))
	if err != nil {
		return fmt.Errorf("a container does not come up, before any case: %w", err)
	}
	a.events = a.wantsEvents() && a.sendsEvents(ctx)
	if err := errors.Join(a.cri.Start(ctx, container), a.Settled(ctx, container), a.cri.RemovePod(ctx, id)); err != nil {
		return err
	}
	// What there is without pods is known once the first has been there: a bridge stays.
	return a.takeBaseline(ctx)
}

// lacksNetwork says what the cases of the network lack.
func (a *attached) lacksNetwork() string {
	if a.options.CNIBin == "" {
		return "needs the node's folders of CNI (--cni-bin-dir, --cni-conf-dir)"
	}
	for _, name := range []string{"ptp", "host-local", "loopback"} {
		if _, err := os.Stat(filepath.Join(a.options.CNIBin, name)); err != nil {
			return fmt.Sprintf("needs the CNI plugin %s in %s", name, a.options.CNIBin)
		}
	}
	return ""
}

// CNI are the node's folders.
func (a *attached) CNI() (bin, conf string) { return a.options.CNIBin, a.options.CNIConf }

// wantsEvents tells whether a case that is to be run needs events: to find out whether there
// are any takes a second.
func (a *attached) wantsEvents() bool {
	for _, p := range cases.Profiles() {
		for _, c := range p.Cases() {
			if c.Needs.Events && a.options.wants(c) {
				return true
			}
		}
	}
	return false
}

// sendsEvents tells whether CRI's container events can be listened to. A runtime that has
// them keeps the stream open.
func (a *attached) sendsEvents(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	stream, err := a.cri.Runtime.GetContainerEvents(ctx, &runtime.GetEventsRequest{})
	if err != nil {
		return false
	}
	for err == nil {
		_, err = stream.Recv()
	}
	return status.Code(err) == codes.DeadlineExceeded
}

// takeBaseline notes what there is without pods.
func (a *attached) takeBaseline(ctx context.Context) error {
	left, err := a.inventory(ctx)
	a.baseline = map[cri.Leftover]bool{}
	for _, l := range left {
		a.baseline[l] = true
	}
	return err
}

func (a *attached) CRI() *cri.Client  { return a.cri }
func (a *attached) NRISocket() string { return a.options.NRI }

func (a *attached) Timeouts() (request, registration time.Duration) {
	return a.request, a.registration
}

// Settled waits until the container's program handles its signals, where its process can be
// seen, or else until CRI says that it runs.
func (a *attached) Settled(ctx context.Context, container string) error {
	return wait.Until(ctx, "container "+container+" to run", func(ctx context.Context) error {
		s, err := a.cri.Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: container, Verbose: true})
		if err != nil {
			return err
		}
		if state := s.GetStatus().GetState(); state != runtime.ContainerState_CONTAINER_RUNNING {
			return fmt.Errorf("it is %s", state)
		}
		var info struct {
			Pid int `json:"pid"`
		}
		if err := json.Unmarshal([]byte(s.GetInfo()["info"]), &info); err != nil || info.Pid == 0 {
			return nil
		}
		ignores, err := proc.Ignores(info.Pid, idle.Ready)
		if err != nil {
			return nil // the process is somewhere else
		}
		if !ignores {
			return fmt.Errorf("process %d does not handle its signals yet", info.Pid)
		}
		return nil
	})
}

// Leftovers lists what was not there before the case.
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

var errNoCommands = errors.New("no commands to stop and start the runtime were given")

func (a *attached) Stop(ctx context.Context) error { return a.ends(ctx, "stop", a.options.Stop) }
func (a *attached) Kill(ctx context.Context) error { return a.ends(ctx, "kill", a.options.Kill) }

// ends ends the runtime, and returns when nobody answers any more.
func (a *attached) ends(ctx context.Context, what string, end func(context.Context) error) (err error) {
	if end == nil {
		return errNoCommands
	}
	start := time.Now()
	defer func() { a.calls.did(what, start, err) }()
	if err := end(ctx); err != nil {
		return err
	}
	return wait.Until(ctx, "the runtime to be gone", func(ctx context.Context) error {
		if a.answers(ctx) == nil {
			return errors.New("it answers")
		}
		return nil
	})
}

// Boot starts the runtime again, and returns when it answers.
func (a *attached) Boot(ctx context.Context) (err error) {
	if a.options.Boot == nil {
		return errNoCommands
	}
	start := time.Now()
	defer func() { a.calls.did("start", start, err) }()
	if err := a.options.Boot(ctx); err != nil {
		return err
	}
	return wait.Until(ctx, "the runtime to answer", a.answers)
}

// answers asks for the runtime's status, within two seconds.
func (a *attached) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := a.cri.Runtime.Status(ctx, &runtime.StatusRequest{})
	if err != nil {
		return err
	}
	_, err = os.Stat(a.options.NRI)
	return err
}

// clean removes all pods that a case has left, and waits until the runtime shows none of its
// plugins. Where the runtime does not remove them, it is killed and started again first, if
// that can be done.
func (a *attached) clean(ctx context.Context) error {
	err := a.removeAll(ctx)
	if err != nil && a.options.Kill != nil {
		_ = a.options.Kill(ctx) // it may be gone already
		err = errors.Join(a.Boot(ctx), a.removeAll(ctx))
	}
	if err == nil && a.shows {
		a.forget(ctx)
	}
	return err
}

// forget waits until the runtime has noticed that the plugins of a case have gone. Some
// cases assert which are shown; that one stays for good is for these to find.
func (a *attached) forget(ctx context.Context) {
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
		return nil
	})
}

// removeAll removes one pod after the other. Each has half a minute: on a busy machine many
// take longer than a few.
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

// removeOne returns when the runtime does not list the pod any more.
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

// pods are the ids of those that the runtime lists.
func (a *attached) pods(ctx context.Context) (ids []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	listed, err := a.cri.Pods(ctx)
	for _, pod := range listed {
		ids = append(ids, pod.GetId())
	}
	return ids, err
}
