// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/cases"
	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/report"
)

// Run runs the selected cases, and returns the report. An error is a fault of the tool or its
// options; faults of the runtime are in the report. If the final clean-up fails, Run returns both
// a report and an error. A process must not call Run concurrently: fixture.Soon and
// fixture.Moments are global.
func Run(ctx context.Context, o Options) (_ *report.Report, retErr error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.Repeat, o.Timeout = cmp.Or(o.Repeat, 1), cmp.Or(o.Timeout, 5*time.Minute)
	fixture.Soon = cmp.Or(o.Soon, fixture.Soon)
	if err := o.reach(ctx); err != nil {
		return nil, err
	}
	name := o.Image
	if name == "" {
		end := o.step("have the runtime pull the image of the cases")
		loaded, unload, err := loadImage(ctx, o.CRI)
		end()
		if err != nil {
			return nil, err
		}
		name = loaded
		defer func() { retErr = errors.Join(retErr, unload(context.WithoutCancel(ctx))) }()
	}
	a, err := attach(o, name)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, a.cri.Close()) }()
	defer func() { retErr = errors.Join(retErr, a.removeAll(context.WithoutCancel(ctx))) }()
	a.calls.begin()
	probing, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := a.probe(probing); err != nil {
		return nil, err
	}
	r := &report.Report{
		Format: report.Format, Command: o.Command, Started: time.Now(), Seed: o.Seed, Repeat: o.Repeat,
		Tool: report.Tool{
			Name: "nri-conformance", Version: o.Version, NRI: moduleVersion("github.com/containerd/nri"),
			Contract: report.Contract{Version: contractVersion, Page: contractPage},
		},
		Host: host(), NoCases: WithoutCases(),
	}
	if r.Runtime, err = a.describe(ctx); err != nil {
		return nil, err
	}
	if r.Lacks = a.allLacks(); len(r.Lacks) > 0 && o.Confirm != nil {
		if err := o.Confirm(r.Lacks); err != nil {
			return nil, err
		}
	}
	a.runAll(ctx, r)
	r.Seconds = time.Since(r.Started).Seconds()
	if !o.Records {
		r.Trim()
	}
	r.Sum()
	return r, nil
}

// runAll runs the selected cases, in the order of the seed.
func (a *attached) runAll(ctx context.Context, r *report.Report) {
	wanted := a.options.selected()
	for i, c := range wanted {
		if i == 0 || wanted[i-1].Profile != c.Profile {
			r.Profiles = append(r.Profiles, report.Profile{Name: c.Profile.Name, About: c.Profile.About})
		}
	}
	random := rand.New(rand.NewPCG(a.options.Seed, a.options.Seed))
	var broken error
	for i := range a.options.Repeat {
		if a.options.Seed != 0 {
			random.Shuffle(len(wanted), func(i, j int) { wanted[i], wanted[j] = wanted[j], wanted[i] })
		}
		for _, c := range wanted {
			one := report.Case{Name: c.Name, Rule: c.Rule(), Profile: c.Profile.Name, Run: i + 1, Started: time.Now()}
			lack, why := a.lacks(c.Needs), a.options.skipped(c)
			switch {
			case why != "":
				one.Verdict, one.Reason = report.Skipped, why
			case lack.Reason != "":
				one.Verdict, one.Reason = report.Unsupported, lack.Reason
			case ctx.Err() != nil:
				one.Verdict, one.Reason = report.Error, "not run: interrupted"
			case broken != nil:
				one.Verdict, one.Reason = report.Error, "not run: "+broken.Error()
			default:
				end := a.options.step(fmt.Sprintf("%s %s", c.Profile.Name, c.Name))
				broken = a.runUntilSignificant(ctx, c, &one)
				end()
			}
			r.Cases = append(r.Cases, one)
		}
	}
}

// runOne runs a case, and cleans up after it. After an error no further case can run.
func (a *attached) runOne(ctx context.Context, c *cases.Case, one *report.Case) error {
	within, cancel := context.WithTimeout(ctx, a.options.Timeout)
	defer cancel()
	// Leftovers of the previous case are not this one's fault.
	if err := a.takeBaseline(within); err != nil {
		one.Verdict, one.Reason = report.Error, err.Error()
		return err
	}
	r := &run{name: fmt.Sprintf("run %d of %s", one.Run, c.Name), plugins: a.plugins, runtime: a, clean: func() { _ = a.clean(context.WithoutCancel(ctx)) }} // the clean-up after the case reports leftovers
	one.Trace = a.calls.begin()
	a.cri.Own = "-" + newEnd() // a suffix of its own, also if the case runs again
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lead(within, r, c.Name, "", c.Run)
	}()
	late := false
	select {
	case <-ended:
	case <-within.Done():
		late = true
		select { // operations with its context end now
		case <-ended:
		case <-time.After(30 * time.Second):
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	one.Seconds = time.Since(one.Started).Seconds()
	one.Promises, one.Evidence = slices.Clone(r.promises), slices.Clone(r.evidence)
	one.Calls, a.slowest, a.lost = a.calls.take()
	for _, p := range r.watched {
		one.Plugins = append(one.Plugins, Connections(p)...)
	}
	switch {
	case r.fault != "":
		one.Verdict, one.Reason = report.Error, r.fault
	case ctx.Err() != nil:
		one.Verdict, one.Reason = report.Error, "interrupted"
	case r.failed:
		one.Verdict = report.Failed
		one.Evidence = append(one.Evidence, r.notes...)
	case late:
		one.Verdict, one.Reason = report.Error, fmt.Sprintf("the case did not end within %s", a.options.Timeout)
	default:
		one.Verdict = report.Passed
	}
	a.calls.begin()
	if err := a.clean(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("the runtime does not remove the pods that %s left: %w", c.Name, err)
	}
	return nil
}

// describe returns the runtime's description.
func (a *attached) describe(ctx context.Context) (r report.Runtime, err error) {
	v, err := a.cri.Runtime.Version(ctx, &cri.VersionRequest{})
	if err != nil {
		return r, err
	}
	s, err := a.cri.Runtime.Status(ctx, &cri.StatusRequest{})
	if err != nil {
		return r, err
	}
	r = report.Runtime{
		Name: v.GetRuntimeName(), Version: v.GetRuntimeVersion(), CRI: v.GetRuntimeApiVersion(), Handler: a.options.Handler,
		NRI: report.NRI{Version: a.nriVersion, RequestSeconds: a.request.Seconds(), RegistrationSeconds: a.registration.Seconds()},
	}
	for _, c := range s.GetStatus().GetConditions() {
		if c.GetType() == cri.NetworkReady {
			r.CNI = report.CNI{Ready: c.GetStatus(), Message: strings.TrimSpace(c.GetReason() + " " + c.GetMessage())}
		}
	}
	return r, nil
}

// moduleVersion is the version of a module in this program.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "unknown"
}

func host() report.Host {
	h := report.Host{Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Cgroup: "v1", Kernel: "unknown"}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		h.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	if _, err := os.Stat(filepath.Join("/sys/fs/cgroup", "cgroup.controllers")); err == nil {
		h.Cgroup = "v2"
	}
	return h
}
