// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookline-nri/hookline/conformance/cases"
	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/testkit/cri"
)

// Options select the runtime and the cases.
type Options struct {
	CRI string // path of the CRI socket
	NRI string // path of the NRI socket

	Handler      string // runtime handler of pods; the runtime's own where empty
	CgroupParent string // of pods; the runtime's own where empty
	Image        string // an image that the runtime has; where empty, one is made and loaded
	// State is the folder of CNI's state on the node, /var/lib/cni. Cases look there for addresses
	// and attachments that pods left, unless it is empty.
	State string

	// CNIBin and CNIConf are the node's folders of CNI plugins and configurations. The cases of
	// the network replace the network there while they run. Without the folders they are
	// unsupported.
	CNIBin, CNIConf string
	// CDI is the node's folder of specifications of CDI devices, which may require plugins on this
	// runtime. Without the folder the cases of these devices are unsupported.
	CDI string
	// MustRun says that the runtime requires fixture.RequiredPlugin. It is not needed if the
	// runtime's status shows that.
	MustRun bool

	// Stop, Kill and Boot end the runtime and start it again. Without them the cases of
	// restarts are unsupported.
	Stop, Kill, Boot func(context.Context) error

	Profiles []string          // by name; all where empty
	Rules    []string          // L9; all where empty
	Cases    []string          // by name; all where empty
	Skip     map[string]string // reasons, by rule or by name of a case
	Repeat   int               // how often each case is run; once where zero
	Seed     uint64            // of the order of cases; by profile and name where zero
	Timeout  time.Duration     // of one case; five minutes where zero
	Soon     time.Duration     // how long cases wait for a condition that should hold within moments; a minute where zero

	Command []string            // for the report
	Version string              // of the tool, for the report
	Step    func(string) func() // announces a step, and returns a function that announces its end; may be nil
	// Confirm is called before the first case if some cannot run, with the reasons. After an error
	// none runs. It may be nil.
	Confirm func([]report.Lack) error
	// Records also keeps the records of cases that passed, for timelines.
	Records bool
	// Left replaces the search for leftovers of pods on the node. If it is nil, CRI and State are
	// searched.
	Left func(context.Context) ([]cri.Leftover, error)
}

// check returns the errors in the options, each with its flag.
func (o Options) check() error {
	var errs []error
	if o.CRI == "" || o.NRI == "" {
		errs = append(errs, errors.New("the sockets of CRI and NRI are needed: --runtime-endpoint and --nri-socket"))
	}
	if !slices.Equal([]bool{o.Stop != nil, o.Kill != nil}, []bool{o.Boot != nil, o.Boot != nil}) {
		errs = append(errs, errors.New("the commands that stop, kill and start the runtime must be set together: --stop-command, --kill-command and --start-command"))
	}
	if (o.CNIBin == "") != (o.CNIConf == "") {
		errs = append(errs, errors.New("the folders of CNI must be set together: --cni-bin-dir and --cni-conf-dir"))
	}
	if o.Repeat < 0 {
		errs = append(errs, fmt.Errorf("--repeat %d: must not be negative", o.Repeat))
	}
	profiles, rules, names := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range cases.Profiles() {
		profiles[p.Name] = true
		for _, c := range p.Cases() {
			rules[c.Rule()], names[c.Name] = true, true
		}
	}
	unknown := false
	known := func(flag string, asked []string, what string, of ...map[string]bool) {
		for _, name := range asked {
			if !slices.ContainsFunc(of, func(of map[string]bool) bool { return of[name] }) {
				unknown = true
				errs = append(errs, fmt.Errorf("%s: %q is no %s: --list prints them", flag, name, what))
			}
		}
	}
	known("--profile", o.Profiles, "profile", profiles)
	known("--rules", o.Rules, "rule that has cases", rules)
	known("--case", o.Cases, "case", names)
	known("--skip", slices.Sorted(maps.Keys(o.Skip)), "rule or case", rules, names)
	for _, rule := range slices.Sorted(maps.Keys(o.Skip)) {
		if strings.TrimSpace(o.Skip[rule]) == "" {
			errs = append(errs, fmt.Errorf("--skip %s: give a reason: %s=REASON", rule, rule))
		}
	}
	if len(o.selected()) == 0 && !unknown {
		errs = append(errs, errors.New("no case matches all of --profile, --rules and --case"))
	}
	return errors.Join(errs...)
}

// selected returns the selected cases, by profile and name.
func (o Options) selected() (selected []*cases.Case) {
	for _, p := range cases.Profiles() {
		for _, c := range p.Cases() {
			if o.wants(c) {
				selected = append(selected, c)
			}
		}
	}
	return selected
}

// wants reports whether a case is selected.
func (o Options) wants(c *cases.Case) bool {
	in := func(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }
	return in(o.Profiles, c.Profile.Name) && in(o.Rules, c.Rule()) && in(o.Cases, c.Name)
}

// skipped returns the reason why a selected case is skipped, if it is.
func (o Options) skipped(c *cases.Case) string {
	if why := o.Skip[c.Name]; why != "" {
		return why
	}
	return o.Skip[c.Rule()]
}

func (o Options) step(what string) func() {
	if o.Step == nil {
		return func() {}
	}
	return o.Step(what)
}
