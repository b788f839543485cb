// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"slices"
	"strings"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// Profile is the subject of a group of cases. A runtime may keep one profile and not another.
type Profile struct {
	Name, About string
	cases       []*Case
}

// The profiles, in the order in which their cases run.
var (
	Pod       = &Profile{Name: "pod", About: "hooks of pods: creation, rejection, timeouts, which plugins are asked"}
	Container = &Profile{Name: "container", About: "hooks of containers: order, adjustments, updates, rejections"}
	Joining   = &Profile{Name: "joining", About: "plugins that join, hang, freeze, crash and reconnect"}
	Teardown  = &Profile{Name: "teardown", About: "each plugin receives each end once, whatever the other plugins do"}
	Restart   = &Profile{Name: "restart", About: "the runtime is stopped or killed, and finds pods when it starts again"}
	Network   = &Profile{Name: "network", About: "how the runtime applies CNI's STATUS"}
	Resources = &Profile{Name: "resources", About: "announced resources of pods reach plugins"}
	MustRun   = &Profile{Name: "must-run", About: "pods that require a plugin start only with its approval"}
	Ends      = &Profile{Name: "ends", About: "ends reach plugins that were disconnected, and their successors"}
	Given     = &Profile{Name: "given-network", About: "a plugin gives pods their network, without CNI"}
)

// Profiles returns all profiles.
func Profiles() []*Profile {
	return []*Profile{Pod, Container, Joining, Teardown, Restart, Network, Resources, MustRun, Ends, Given}
}

// Cases returns the profile's cases, sorted by name.
func (p *Profile) Cases() []*Case { return p.cases }

// Case asserts one promise of the contract, or a few related ones, on real pods.
type Case struct {
	// Name begins with the case's rule, such as L9_, and says what holds.
	Name    string
	Profile *Profile
	Needs   Needs
	// Run asserts it.
	Run func(T)
}

// Rule returns the case's rule. Its promises may name other rules.
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
