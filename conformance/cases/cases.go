// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"slices"
	"strings"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// Profile is what a group of cases is about. A runtime may have one and not another.
type Profile struct {
	Name, About string
	cases       []*Case
}

// The profiles, in the order in which their cases run.
var (
	Pod       = &Profile{Name: "pod", About: "hooks of pods: creation, rejection, timeouts, who is asked"}
	Container = &Profile{Name: "container", About: "hooks of containers: order, adjustments, updates, rejections"}
	Joining   = &Profile{Name: "joining", About: "plugins that join, hang, freeze, crash and come back"}
	Teardown  = &Profile{Name: "teardown", About: "every end is told, once, to all, whatever plugins do"}
	Restart   = &Profile{Name: "restart", About: "the runtime is stopped or killed, and finds pods when it comes back"}
	Network   = &Profile{Name: "network", About: "CNI's STATUS and what the runtime makes of it"}
	Resources = &Profile{Name: "resources", About: "what is announced of a pod's resources reaches plugins"}
	MustRun   = &Profile{Name: "must-run", About: "pods that require a plugin start with its word or not at all"}
	Ends      = &Profile{Name: "ends", About: "ends reach plugins that were disconnected, and instances that take over"}
)

// Profiles are all of them.
func Profiles() []*Profile {
	return []*Profile{Pod, Container, Joining, Teardown, Restart, Network, Resources, MustRun, Ends}
}

// Cases are those of a profile, by name.
func (p *Profile) Cases() []*Case { return p.cases }

// Case is one promise of the contract, or a few that are seen together, on real pods.
type Case struct {
	// Name begins with the rule that the case is about, L9_, and says what holds.
	Name    string
	Profile *Profile
	Needs   Needs
	// Run asserts it.
	Run func(T)
}

// Rule is the rule that the case is about. Its promises may name others.
func (c *Case) Rule() string {
	rule, _, _ := strings.Cut(c.Name, "_")
	return rule
}

// has declares a case.
func (p *Profile) has(name string, needs Needs, run func(T)) *Case {
	c := &Case{Name: name, Profile: p, Needs: needs, Run: run}
	p.cases = append(p.cases, c)
	slices.SortFunc(p.cases, func(a, b *Case) int { return strings.Compare(a.Name, b.Name) })
	return c
}
