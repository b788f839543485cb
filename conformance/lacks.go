// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/report"
)

// lacks returns why a case cannot run: which need the runtime, or the command, does not meet, and
// the setting that meets it. It is zero if the case can run.
func (a *attached) lacks(n fixture.Needs) (l report.Lack) {
	switch {
	case n.GivenNetwork && !a.given:
		l.Reason = fmt.Sprintf("needs a runtime on which plugin %s gives pods their network", fixture.NetworkPlugin)
		l.Help = fmt.Sprintf("hookline: network = %q, which is for these cases alone", fixture.NetworkPlugin)
	case !n.GivenNetwork && a.given:
		l.Reason = fmt.Sprintf("needs a runtime whose pods have the network of CNI, and here plugin %s gives it", fixture.NetworkPlugin)
	case a.request < n.Least.Request:
		l.Reason = fmt.Sprintf("needs a timeout of %s for a request, and the runtime has %s", n.Least.Request, a.request)
		l.Help = fmt.Sprintf("containerd: plugin_request_timeout = \"%s\"; CRI-O: nri_plugin_request_timeout = \"%[1]s\"", n.Least.Request)
	case a.registration < n.Least.Registration:
		l.Reason = fmt.Sprintf("needs a timeout of %s for a registration, and the runtime has %s", n.Least.Registration, a.registration)
		l.Help = fmt.Sprintf("containerd: plugin_registration_timeout = \"%s\"; CRI-O: nri_plugin_registration_timeout = \"%[1]s\"", n.Least.Registration)
	case n.Restarts && a.options.Boot == nil:
		l.Reason = "needs commands that stop, kill and start the runtime"
		l.Help = "--stop-command, --kill-command and --start-command"
	case n.Status && !a.shows:
		l.Reason = "needs a runtime that shows its plugins in its verbose status, under \"nri\""
	case n.Network && a.network != "":
		l.Reason, l.Help = a.network, "--cni-bin-dir and --cni-conf-dir, with the CNI plugins ptp, host-local and loopback"
	case n.Required && !a.requires:
		l.Reason = fmt.Sprintf("needs a runtime that requires plugin %s for pods outside of namespace default", fixture.RequiredPlugin)
		l.Help = "hookline: required_for of that plugin; --must-run if the status of the runtime does not show it"
	case n.Devices && a.options.CDI == "":
		l.Reason = "needs a runtime on which CDI devices may require plugins, and the node's folder of their specifications"
		l.Help = "hookline: cdi_required_plugins = true; --cdi-spec-dir"
	case n.Events && !a.events:
		l.Reason, l.Help = "needs a runtime that sends CRI's container events", "CRI-O: enable_pod_events = true"
	case n.Sandbox && !a.processes:
		l.Reason = "needs a runtime whose pods have a sandbox process, and that sends plugins its PID"
	case n.Announcements && !a.announces:
		l.Reason = "needs a runtime that passes on the announced resources of pods (KEP-4112)"
	}
	return l
}

// allLacks returns each reason why selected cases cannot run, with the number of cases.
func (a *attached) allLacks() (all []report.Lack) {
	for _, c := range a.options.selected() {
		l := a.lacks(c.Needs)
		if l.Reason == "" || a.options.skipped(c) != "" {
			continue
		}
		i := slices.IndexFunc(all, func(known report.Lack) bool { return known.Reason == l.Reason })
		if i < 0 {
			i, all = len(all), append(all, l)
		}
		all[i].Cases++
	}
	return all
}
