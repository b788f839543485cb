// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"github.com/hookline-nri/hookline/internal/edit"
	nriacknowledge "github.com/hookline-nri/hookline/patches/adaptation/nri-acknowledge"
	nribuiltinconfigure "github.com/hookline-nri/hookline/patches/adaptation/nri-builtin-configure"
	nriengine "github.com/hookline-nri/hookline/patches/adaptation/nri-engine"
	nrierrors "github.com/hookline-nri/hookline/patches/adaptation/nri-errors"
	nrihandover "github.com/hookline-nri/hookline/patches/adaptation/nri-hand-over"
	nrimissedevents "github.com/hookline-nri/hookline/patches/adaptation/nri-missed-events"
	nrinames "github.com/hookline-nri/hookline/patches/adaptation/nri-names"
	nripodnetwork "github.com/hookline-nri/hookline/patches/adaptation/nri-pod-network"
	nripodstate "github.com/hookline-nri/hookline/patches/adaptation/nri-pod-state"
	nrirefusedupdates "github.com/hookline-nri/hookline/patches/adaptation/nri-refused-updates"
	nriregisterbounds "github.com/hookline-nri/hookline/patches/adaptation/nri-register-bounds"
	nrirequired "github.com/hookline-nri/hookline/patches/adaptation/nri-required"
	nrirequiredbyrequest "github.com/hookline-nri/hookline/patches/adaptation/nri-required-by-request"
	nrirights "github.com/hookline-nri/hookline/patches/adaptation/nri-rights"
	nriswitch "github.com/hookline-nri/hookline/patches/adaptation/nri-switch"
	nrisyncsplit "github.com/hookline-nri/hookline/patches/adaptation/nri-sync-split"
	sandboxcontract "github.com/hookline-nri/hookline/patches/adaptation/sandbox-contract"
	"github.com/hookline-nri/hookline/patches/build"
	creationslisted "github.com/hookline-nri/hookline/patches/core/creations-listed"
	endsafterrestart "github.com/hookline-nri/hookline/patches/core/ends-after-restart"
	rejectedpodends "github.com/hookline-nri/hookline/patches/core/rejected-pod-ends"
	removelocksonce "github.com/hookline-nri/hookline/patches/core/remove-locks-once"
	statusoutsidelock "github.com/hookline-nri/hookline/patches/core/status-outside-lock"
	stopbeforereclaim "github.com/hookline-nri/hookline/patches/core/stop-before-reclaim"
	teardownreachesall "github.com/hookline-nri/hookline/patches/core/teardown-reaches-all"
	undorejectedpod "github.com/hookline-nri/hookline/patches/core/undo-rejected-pod"
	updatesofastop "github.com/hookline-nri/hookline/patches/core/updates-of-a-stop"
	waitbeforehook "github.com/hookline-nri/hookline/patches/core/wait-before-hook"
	cnipluginprocesses "github.com/hookline-nri/hookline/patches/network/cni-plugin-processes"
	cnistatusmonitor "github.com/hookline-nri/hookline/patches/network/cni-status-monitor"
	internalloopback "github.com/hookline-nri/hookline/patches/network/internal-loopback"
	networkbesidepause "github.com/hookline-nri/hookline/patches/network/network-beside-pause"
	networkbyplugin "github.com/hookline-nri/hookline/patches/network/network-by-plugin"
	networkdetach "github.com/hookline-nri/hookline/patches/network/network-detach"
	networkgc "github.com/hookline-nri/hookline/patches/network/network-gc"
	networkstatus "github.com/hookline-nri/hookline/patches/network/network-status"
	plugingatesnetwork "github.com/hookline-nri/hookline/patches/network/plugin-gates-network"
	awaitplugins "github.com/hookline-nri/hookline/patches/plugins/await-plugins"
	deviceplugins "github.com/hookline-nri/hookline/patches/plugins/device-plugins"
	handover "github.com/hookline-nri/hookline/patches/plugins/hand-over"
	missedevents "github.com/hookline-nri/hookline/patches/plugins/missed-events"
	nrifailures "github.com/hookline-nri/hookline/patches/plugins/nri-failures"
	nripluginnames "github.com/hookline-nri/hookline/patches/plugins/nri-plugin-names"
	nripluginsettings "github.com/hookline-nri/hookline/patches/plugins/nri-plugin-settings"
	nrisettings "github.com/hookline-nri/hookline/patches/plugins/nri-settings"
	nristatus "github.com/hookline-nri/hookline/patches/plugins/nri-status"
	nriwithoutlock "github.com/hookline-nri/hookline/patches/plugins/nri-without-lock"
	pluginrights "github.com/hookline-nri/hookline/patches/plugins/plugin-rights"
	pluginseries "github.com/hookline-nri/hookline/patches/plugins/plugin-series"
	pluginswitch "github.com/hookline-nri/hookline/patches/plugins/plugin-switch"
	podspans "github.com/hookline-nri/hookline/patches/plugins/pod-spans"
	podstate "github.com/hookline-nri/hookline/patches/plugins/pod-state"
	refusedupdates "github.com/hookline-nri/hookline/patches/plugins/refused-updates"
	containerupdaterecordedlast "github.com/hookline-nri/hookline/patches/pods/container-update-recorded-last"
	containersstopfirst "github.com/hookline-nri/hookline/patches/pods/containers-stop-first"
	"github.com/hookline-nri/hookline/patches/pods/creation"
	creationmetrics "github.com/hookline-nri/hookline/patches/pods/creation-metrics"
	currentpodresources "github.com/hookline-nri/hookline/patches/pods/current-pod-resources"
	"github.com/hookline-nri/hookline/patches/pods/events"
	interruptedsnapshot "github.com/hookline-nri/hookline/patches/pods/interrupted-snapshot"
	podresources "github.com/hookline-nri/hookline/patches/pods/pod-resources"
	podupdaterecordedlast "github.com/hookline-nri/hookline/patches/pods/pod-update-recorded-last"
	recordslast "github.com/hookline-nri/hookline/patches/pods/records-last"
	"github.com/hookline-nri/hookline/patches/pods/recovery"
	sandboxphase "github.com/hookline-nri/hookline/patches/pods/sandbox-phase"
	sandboxwithoutprocess "github.com/hookline-nri/hookline/patches/pods/sandbox-without-process"
	sandboxwithoutspec "github.com/hookline-nri/hookline/patches/pods/sandbox-without-spec"
	"github.com/hookline-nri/hookline/patches/pods/undo"
	hungshims "github.com/hookline-nri/hookline/patches/shims/hung-shims"
	idleshim "github.com/hookline-nri/hookline/patches/shims/idle-shim"
	shimcollection "github.com/hookline-nri/hookline/patches/shims/shim-collection"
	shimdeletecgroup "github.com/hookline-nri/hookline/patches/shims/shim-delete-cgroup"
	shimdeletecommand "github.com/hookline-nri/hookline/patches/shims/shim-delete-command"
	shimevents "github.com/hookline-nri/hookline/patches/shims/shim-events"
	shimgone "github.com/hookline-nri/hookline/patches/shims/shim-gone"
	"github.com/hookline-nri/hookline/patches/shims/shims"
	stoppedtask "github.com/hookline-nri/hookline/patches/shims/stopped-task"
)

// Release is N in the version that built binaries carry, vX.Y.Z+hookline.N. It
// goes up with each release on the same upstream version.
const Release = 1

// Series is the fork: its changes, in their order. It is also the order in which to open the
// pull requests.
var Series = edit.Assemble([]edit.Module{
	{Name: "go-cni", Path: "github.com/containerd/go-cni"},
	{Name: "nri", Path: "github.com/containerd/nri"},
	{Name: "containerd", Path: "github.com/containerd/containerd/v2"},
}, build.Group,
	// The core. Each pull request is one patch, and helps by itself.
	teardownreachesall.Group,
	rejectedpodends.Group,
	updatesofastop.Group,
	removelocksonce.Group,
	undorejectedpod.Group,
	stopbeforereclaim.Group,
	endsafterrestart.Group,
	waitbeforehook.Group,
	creationslisted.Group,
	statusoutsidelock.Group,
	// Small too, and close to the core: the order of records and the events of ends, and what plugins
	// receive of an updated pod.
	recordslast.Group,
	currentpodresources.Group,
	podupdaterecordedlast.Group,
	containerupdaterecordedlast.Group,

	// The document of what plugins can rely on.
	sandboxcontract.Group,

	// go-cni.
	cnipluginprocesses.Group,
	cnistatusmonitor.Group,

	// NRI.
	nrisyncsplit.Group,
	nribuiltinconfigure.Group,
	nriregisterbounds.Group,
	nriengine.Group,
	nripodstate.Group,
	nrierrors.Group,
	nrirequired.Group,
	nrinames.Group,
	nrirights.Group,
	nrimissedevents.Group,
	nrihandover.Group,
	nriswitch.Group,
	nrirefusedupdates.Group,
	nriacknowledge.Group,
	nripodnetwork.Group,
	nrirequiredbyrequest.Group,

	// containerd, with NRI as released.
	undo.Group,
	interruptedsnapshot.Group,
	shims.Group,
	shimevents.Group,
	shimdeletecommand.Group,
	shimdeletecgroup.Group,
	shimcollection.Group,
	stoppedtask.Group,
	idleshim.Group,
	shimgone.Group,
	sandboxwithoutspec.Group,
	sandboxwithoutprocess.Group,
	creation.Group,
	hungshims.Group,
	containersstopfirst.Group,
	recovery.Group,
	sandboxphase.Group,
	events.Group,
	creationmetrics.Group,

	// containerd, on the NRI above.
	nriwithoutlock.Group,
	podstate.Group,
	pluginseries.Group,
	nrisettings.Group,
	nrifailures.Group,
	nristatus.Group,
	podspans.Group,
	nripluginsettings.Group,
	awaitplugins.Group,
	nripluginnames.Group,
	pluginrights.Group,
	missedevents.Group,
	handover.Group,
	pluginswitch.Group,
	refusedupdates.Group,
	deviceplugins.Group,

	// containerd, on the go-cni above.
	networkstatus.Group,
	networkdetach.Group,
	internalloopback.Group,
	networkbesidepause.Group,
	networkgc.Group,
	plugingatesnetwork.Group,
	networkbyplugin.Group,

	// waiting for KEP-4112.
	podresources.Group,
)
