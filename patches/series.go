// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/containerd"
	gocni "github.com/hookline-nri/hookline/patches/go-cni"
	"github.com/hookline-nri/hookline/patches/nri"
)

// Release is N in the version that built binaries carry, vX.Y.Z+hookline.N. It
// goes up with each release on the same upstream version.
const Release = 1

// Series is the fork: what is changed, in which order. Reading it is reading
// all there is.
var Series = edit.Series{
	Modules: []edit.Module{
		{Name: "go-cni", Path: "github.com/containerd/go-cni"},
		{Name: "nri", Path: "github.com/containerd/nri"},
		{Name: "containerd", Path: "github.com/containerd/containerd/v2"},
	},
	Patches: []edit.Patch{
		// The core: small, and each helps by itself. It is where each module begins.
		gocni.StatusOutsideLock,

		nri.TeardownReachesAll,
		nri.RefusedPodEnds,

		containerd.PatchedNRI,
		containerd.PatchedCNI,
		containerd.UpdatesOfAStop,
		containerd.RemoveLocksOnce,
		containerd.UndoRefusedPod,
		containerd.StopBeforeReclaim,
		containerd.EndsAfterRestart,
		containerd.WaitBeforeHook,
		containerd.CreationsListed,

		// go-cni: STATUS that holds nobody up, and plugins that leave nothing behind.
		gocni.PluginProcesses,
		gocni.NetworkStates,
		gocni.NetworkMonitor,

		// NRI: what is promised.
		nri.SandboxContract,

		// NRI: what is told to a plugin that joins.
		nri.SyncSplit,
		nri.BuiltinConfigure,

		// NRI: what peers may send.
		nri.RegisterBounds,

		// NRI: the lifecycle engine in place of one lock.
		nri.EngineLedger,
		nri.EngineAway,
		nri.LifecycleEngine,
		nri.AdaptationEngine,
		nri.OldRelays,
		nri.UnreadPeers,
		nri.DeliveryMetrics,
		nri.SyncBlock,
		nri.ProtoPodState,
		nri.PodState,
		nri.PluginErrors,
		nri.Waits,
		nri.RequiredPlugins,
		nri.WhoConnects,
		nri.PluginPeer,
		nri.RegistrationLog,
		nri.OwedEnds,
		nri.CreationJournal,
		nri.HandOver,

		// Small too, and next to the core: which record goes before which end is told.
		containerd.RecordBeforeList,
		containerd.EndBeforeRecord,

		// containerd, with NRI as released.
		containerd.UndoInOrder,
		containerd.StartUnderLease,
		containerd.ShimStart,
		containerd.TaskCreate,
		containerd.TaskDelete,
		containerd.ShimEvents,
		containerd.ShimDeleteCommand,
		containerd.ShimDeleteCgroup,
		containerd.StoppedTask,
		containerd.IdleShim,
		containerd.ShimGone,
		containerd.SandboxWithoutSpec,
		containerd.PodsBeingCreated,
		containerd.HookLast,
		containerd.HiddenUntilReady,
		containerd.ListPastHungShims,
		containerd.StatusDuringUpdate,
		containerd.ContainersStopFirst,
		containerd.UnreadableRecords,
		containerd.RecoverTheRest,
		containerd.SandboxPhase,
		containerd.StartAgainstStop,
		containerd.EventsAfterTheFact,
		containerd.CreationMetrics,

		// containerd, on the NRI above.
		containerd.NRIWithoutLock,
		containerd.PodState,
		containerd.PluginSeries,
		containerd.NRISettings,
		containerd.NRIFailures,
		containerd.NRIStatus,
		containerd.PodSpans,
		containerd.NRIPluginSettings,
		containerd.AwaitPlugins,
		containerd.NRIPluginNames,
		containerd.OwedStore,
		containerd.OwedEnds,
		containerd.CreationJournal,
		containerd.HandOver,

		// containerd, on the go-cni above.
		containerd.NetworkAttachments,
		containerd.NetworkPackages,
		containerd.NetworkStatus,
		containerd.NetworkAttach,
		containerd.NetworkDetach,
		containerd.NetworkDetachOnce,
		containerd.InternalLoopback,
		containerd.NetworkBesidePause,
		containerd.NetworkGC,
		containerd.PluginGatesNetwork,

		// waiting for KEP-4112.
		containerd.PodResourcesFields,
		containerd.PodResourcesDecode,
		containerd.PodResourcesAnnouncement,
		containerd.PodResources,
		containerd.PodResourcesCheck,
	},
	Groups: groups,
}
