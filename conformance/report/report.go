// SPDX-License-Identifier: Apache-2.0

// Package report is the result of a run of the conformance test: a JSON document, described by
// report.schema.json, and the files that are made from it: JUnit, Markdown, one HTML file, and
// timelines for Jaeger and Perfetto.
package report

import (
	"cmp"
	"slices"
	"time"
)

// Format is the version of the document. It grows with each change that readers must know about.
const Format = "nri-conformance/1"

// Verdict is the result of a case or of a profile.
type Verdict string

// The verdicts. Only Passed says that promises were kept.
const (
	Passed      Verdict = "passed"
	Failed      Verdict = "failed"
	Unsupported Verdict = "unsupported" // the runtime lacks what the case needs
	Skipped     Verdict = "skipped"     // by --skip, with its reason
	Error       Verdict = "error"       // a fault of the tool, or nothing to test
	Partial     Verdict = "partial"     // of a profile: no case failed, and not all passed
)

// Report is one run.
type Report struct {
	Format   string    `json:"format"`
	Tool     Tool      `json:"tool"`
	Runtime  Runtime   `json:"runtime"`
	Host     Host      `json:"host"`
	Command  []string  `json:"command"`
	Started  time.Time `json:"started"`
	Seconds  float64   `json:"seconds"`
	Seed     uint64    `json:"seed"`   // of the order of cases; 0 orders by profile and name
	Repeat   int       `json:"repeat"` // how often each case ran
	Profiles []Profile `json:"profiles"`
	Cases    []Case    `json:"cases"`
	Lacks    []Lack    `json:"lacks,omitempty"`
	NoCases  []string  `json:"rulesWithoutCases"` // rules of the contract without a case
}

// Lack is a reason why cases are unsupported.
type Lack struct {
	Reason string `json:"reason"`
	Help   string `json:"help,omitempty"` // the setting or flag that makes them run; empty if there is none
	Cases  int    `json:"cases"`          // how many
}

// Tool is the program that ran.
type Tool struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	NRI      string   `json:"nri"` // version of the library that its plugins use
	Contract Contract `json:"contract"`
}

// Contract is the contract that the runtime is tested against.
type Contract struct {
	Version string `json:"version"`
	Page    string `json:"page"` // with the rules
}

// Runtime is the tested runtime.
type Runtime struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	CRI     string `json:"cri"`
	Handler string `json:"handler,omitempty"`
	NRI     NRI    `json:"nri"`
	CNI     CNI    `json:"cni"`
}

// NRI is what plugins receive in Configure.
type NRI struct {
	Version             string  `json:"version"` // of the runtime's library; if the runtime sends none, NRI infers it from the runtime's version
	RequestSeconds      float64 `json:"requestTimeoutSeconds"`
	RegistrationSeconds float64 `json:"registrationTimeoutSeconds"`
}

// CNI is the status of the runtime's network.
type CNI struct {
	Ready   bool   `json:"ready"`
	Message string `json:"message,omitempty"`
}

// Host is the machine of the run.
type Host struct {
	Kernel string `json:"kernel"`
	Arch   string `json:"arch"`
	Cgroup string `json:"cgroup"` // v1 or v2
	CPUs   int    `json:"cpus"`
}

// Profile is the result of a profile's cases.
type Profile struct {
	Name    string          `json:"name"`
	About   string          `json:"about"`
	Verdict Verdict         `json:"verdict"`
	Count   map[Verdict]int `json:"count"`
}

// N returns how many of its cases have a verdict.
func (p Profile) N(v Verdict) int { return p.Count[v] }

// Case is one run of a case.
type Case struct {
	Name     string    `json:"name"`
	Rule     string    `json:"rule"`
	Profile  string    `json:"profile"`
	Run      int       `json:"run"` // counted from 1
	Verdict  Verdict   `json:"verdict"`
	Reason   string    `json:"reason,omitempty"` // for all verdicts but passed and failed
	Again    []string  `json:"again,omitempty"`  // why it ran again, each time
	Started  time.Time `json:"started"`
	Seconds  float64   `json:"seconds"`
	Trace    string    `json:"trace,omitempty"` // the id of its trace, in hex
	Promises []Promise `json:"promises,omitempty"`
	Evidence []string  `json:"evidence,omitempty"` // failures outside of promises, and notes
	// Of a case that did not pass, at most [most] of each.
	Plugins []Connection `json:"plugins,omitempty"`
	Calls   []Call       `json:"calls,omitempty"`
	Omitted int          `json:"omitted,omitempty"` // number of events and calls that are left out
}

// Promise is a promise of the contract, and whether it held.
type Promise struct {
	Part    string  `json:"part,omitempty"` // of the case
	Rule    string  `json:"rule"`
	Holds   string  `json:"holds"`
	Verdict Verdict `json:"verdict"` // passed or failed
	Seen    string  `json:"seen,omitempty"`
}

// Connection is the record of one registration of a plugin.
type Connection struct {
	Plugin string  `json:"plugin"`
	Number int     `json:"number"` // of the plugin's connections, counted from 1
	Events []Event `json:"events"`
}

// Event is one event that a plugin received.
type Event struct {
	Name      string     `json:"name"`
	Pod       string     `json:"pod,omitempty"`
	Container string     `json:"container,omitempty"`
	Start     time.Time  `json:"start"`
	End       *time.Time `json:"end,omitempty"` // absent where it was not answered
	Error     string     `json:"error,omitempty"`
	Abandoned bool       `json:"abandoned,omitempty"` // the runtime no longer waited for the answer
}

// OfRuntime is Call.Of of a command that ends or starts the runtime.
const OfRuntime = "runtime"

// Call is one CRI request that changes something, or a command that ends or starts the runtime.
type Call struct {
	Name  string    `json:"name"`
	Of    string    `json:"of,omitempty"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Error string    `json:"error,omitempty"`
	Span  string    `json:"span,omitempty"`
}

// most is how many events of a connection, and how many calls, the report of a case has.
const most = 60

// Trim drops the records of cases that passed, and shortens those of others.
func (r *Report) Trim() {
	for i := range r.Cases {
		c := &r.Cases[i]
		if c.Verdict == Passed {
			c.Plugins, c.Calls = nil, nil
			continue
		}
		if over := len(c.Calls) - most; over > 0 {
			c.Calls, c.Omitted = c.Calls[:most], c.Omitted+over
		}
		for j := range c.Plugins {
			p := &c.Plugins[j]
			if over := len(p.Events) - most; over > 0 {
				p.Events, c.Omitted = p.Events[:most], c.Omitted+over
			}
		}
		if over := len(c.Plugins) - most/6; over > 0 {
			for _, p := range c.Plugins[most/6:] {
				c.Omitted += len(p.Events)
			}
			c.Plugins = c.Plugins[:most/6]
		}
	}
}

// Sum counts the verdicts of each profile's cases, and sets the profile's verdict.
func (r *Report) Sum() {
	for i := range r.Profiles {
		p := &r.Profiles[i]
		p.Count = map[Verdict]int{}
		for _, c := range r.Cases {
			if c.Profile == p.Name {
				p.Count[c.Verdict]++
			}
		}
		p.Verdict = verdictOf(p.Count)
	}
}

// verdictOf returns the gravest verdict. A case that did not run has not passed.
func verdictOf(count map[Verdict]int) Verdict {
	switch {
	case count[Error] > 0:
		return Error
	case count[Failed] > 0:
		return Failed
	case count[Passed] == 0 && count[Skipped] > 0:
		return Partial
	case count[Passed] == 0:
		return Unsupported
	case count[Skipped]+count[Unsupported] > 0:
		return Partial
	}
	return Passed
}

// Exit is the program's exit code: 0 if no case failed, 1 if one did, 2 for a fault of the tool.
func (r *Report) Exit() int {
	code := 0
	for _, c := range r.Cases {
		switch c.Verdict {
		case Error:
			return 2
		case Failed:
			code = 1
		}
	}
	return code
}

// Count returns how many runs of cases have a verdict.
func (r *Report) Count(v Verdict) (n int) {
	for _, c := range r.Cases {
		if c.Verdict == v {
			n++
		}
	}
	return n
}

// Of returns the runs of a profile's cases: failed ones first, unsupported ones last.
func (r *Report) Of(profile string) (cases []Case) {
	for _, c := range r.Cases {
		if c.Profile == profile {
			cases = append(cases, c)
		}
	}
	slices.SortStableFunc(cases, func(a, b Case) int { return cmp.Compare(weight[a.Verdict], weight[b.Verdict]) })
	return cases
}

// SupportedOf returns those of them that the runtime supports.
func (r *Report) SupportedOf(profile string) []Case {
	return slices.DeleteFunc(r.Of(profile), func(c Case) bool { return c.Verdict == Unsupported })
}

// UnsupportedOf returns the others.
func (r *Report) UnsupportedOf(profile string) []Case {
	return slices.DeleteFunc(r.Of(profile), func(c Case) bool { return c.Verdict != Unsupported })
}

var weight = map[Verdict]int{Error: 0, Failed: 1, Passed: 2, Skipped: 3, Unsupported: 4}
