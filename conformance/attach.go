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
	"github.com/hookline-nri/hookline/plugin/podnetwork"
	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/cri"
	"github.com/hookline-nri/hookline/testkit/pause/idle"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/proc"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// attached is a running runtime, known by its sockets.
type attached struct {
	options               Options
	calls                 *calls
	cri                   *cri.Client
	request, registration time.Duration
	nriVersion            string
	shows, announces      bool
	processes             bool   // plugins receive the PID of a pod's sandbox
	events, requires      bool   // CRI's container events are sent; fixture.RequiredPlugin is required
	given                 bool   // fixture.NetworkPlugin gives pods their network
	network               string // why the cases of the network are unsupported
	baseline              map[cri.Leftover]bool
	plugins               *plugins
	slowest               report.Call // of the last case
	lost                  bool        // the runtime ended in the last case, by itself
}

// attach connects to the runtime. probe comes after it.
func attach(o Options, image string) (*attached, error) {
	a := &attached{options: o, calls: &calls{now: time.Now}, plugins: &plugins{of: map[string]string{}}}
	var err error
	a.cri, err = cri.Dial(o.CRI, image, o.CgroupParent, grpc.WithUnaryInterceptor(a.calls.intercept))
	if err != nil {
		return nil, err
	}
	a.cri.Handler = o.Handler
	return a, nil
}

// reach checks that the runtime answers, before any other request. It must have no pods, since
// the cases count the events that plugins receive.
func (o Options) reach(ctx context.Context) (err error) {
	if o.CNIBin != "" { // an earlier run may have been killed
		if err := fixture.RestoreNetwork(o.CNIBin, o.CNIConf); err != nil {
			return fmt.Errorf("restore the network configuration that an earlier run set aside: %w", err)
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
		return fmt.Errorf("the runtime has %d pods and containers, and the cases count the events that plugins receive: stop the kubelet and remove them (crictl rmp --all --force)", len(left))
	}
	return nil
}

// probe runs the life of a pod with a plugin, to find out the runtime's features.
func (a *attached) probe(ctx context.Context) error {
	p := plugin.New("00", "conformance-probe-"+newEnd())
	defer p.Crash()
	a.plugins.claim(p.Name(), "the probe")
	if err := p.Connect(ctx, a.options.NRI); err != nil {
		return fmt.Errorf("register a plugin at %s: %w", a.options.NRI, err)
	}
	net := plugin.New("01", fixture.NetworkPlugin) // without it no pod starts if it is to give the network
	defer net.Crash()
	fixture.GiveNetworks(net)
	a.plugins.claim(net.Name(), "the probe")
	if err := net.Connect(ctx, a.options.NRI); err != nil {
		return fmt.Errorf("register a second plugin at %s: %w", a.options.NRI, err)
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
		return fmt.Errorf("a pod does not start, before any case: %w", err)
	}
	received := p.Calls().Of(id).Only(plugin.RunPodSandbox)
	if len(received) == 0 {
		return fmt.Errorf("a plugin did not receive pod %s: does the runtime at %s serve NRI at %s?", id, a.options.CRI, a.options.NRI)
	}
	a.announces, a.processes = podresources.FromPod(received[0].Pod) != nil, received[0].Pod.GetPid() > 0
	a.given = podnetwork.Plugin(received[0].Pod) == fixture.NetworkPlugin
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
		return fmt.Errorf("a container does not start, before any case: %w", err)
	}
	a.events = a.wantsEvents() && a.sendsEvents(ctx)
	if err := errors.Join(a.cri.Start(ctx, container), a.Settled(ctx, container), a.cri.RemovePod(ctx, id)); err != nil {
		return err
	}
	// The baseline is taken after the first pod, which leaves a bridge.
	return a.takeBaseline(ctx)
}

// lacksNetwork says why the cases of the network are unsupported.
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

// CNI returns the node's folders of CNI.
func (a *attached) CNI() (bin, conf string) { return a.options.CNIBin, a.options.CNIConf }

// CDI returns the node's folder of specifications of CDI devices.
func (a *attached) CDI() string { return a.options.CDI }

// wantsEvents reports whether a selected case needs events. To find out whether the runtime sends
// them takes a second.
func (a *attached) wantsEvents() bool {
	return slices.ContainsFunc(a.options.selected(), func(c *cases.Case) bool { return c.Needs.Events })
}

// sendsEvents reports whether the runtime sends CRI's container events. If it does, it keeps the
// stream open.
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

func (a *attached) CRI() *cri.Client  { return a.cri }
func (a *attached) NRISocket() string { return a.options.NRI }

func (a *attached) Timeouts() (request, registration time.Duration) {
	return a.request, a.registration
}

// Settled waits until the container's program handles its signals, if its process can be seen,
// or else until CRI shows it as running.
func (a *attached) Settled(ctx context.Context, container string) error {
	return wait.Until(ctx, "container "+container+" to run", func(ctx context.Context) error {
		pid, err := a.cri.PID(ctx, container)
		if err != nil || pid == 0 {
			return err
		}
		ignores, err := proc.Ignores(pid, idle.Ready)
		if err != nil {
			return nil // the process cannot be seen from here
		}
		if !ignores {
			return fmt.Errorf("process %d does not handle its signals yet", pid)
		}
		return nil
	})
}
