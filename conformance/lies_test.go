// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance"
	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/liar"
	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/script"
)

func TestMain(m *testing.M) {
	if acted, err := plugin.Act(); acted {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	fixture.Soon = 5 * time.Second // broken promises wait in vain
	adaptation.SetPluginRequestTimeout(8 * time.Second)
	adaptation.SetPluginRegistrationTimeout(8 * time.Second)
	os.Exit(m.Run())
}

// The cases that a runtime of entries in a map, on NRI's adaptation, passes.
var keptByTheHonest = []string{
	"L1_ContainerThatWasStoppedBeforeItsStartHasOneStop",
	"L11_EveryEndIsDeliveredOnceHoweverAPodEnds",
	"L11_NoContainerIsCreatedInAStoppedPod",
	"L11_RepeatedTeardownDeliversNothing",
	"L14_PluginsReceiveOnlySubscribedEvents",
	"L1_AdjustmentReachesTheContainerAndThePluginsAfter",
	"L1_ContainersEndBeforeTheirPod",
	"L1_EventsOfAPodComeInOrder",
	"L2_JoiningPluginReceivesRunningPods",
	"L3_RemovalOfARunningPodDeliversEveryEnd",
	"L8_StopGoesOnIfAPluginFails",
	"L6_PodIsHiddenWhileItsHookRuns",
	"L9_TeardownReachesAllIfAPluginCrashes",
	"L10_PodIsIntactInItsStopHook",
	"L12_EventsOfALifeComeOnceAndInOrder",
	"N1_NetworkReadyIsTheStatusOfTheNetwork",
	"N1_NetworkWithoutConfigurationIsNotReady",
	"N2_PodsAreRejectedWhileStatusFails",
}

// run starts a runtime for each case, so that nothing that a lie leaves reaches the next case.
func run(t *testing.T, lie liar.Lie) *report.Report {
	t.Helper()
	all := &report.Report{}
	for _, name := range keptByTheHonest {
		if lie == liar.LeavesContainers && name == "L11_EveryEndIsDeliveredOnceHoweverAPodEnds" {
			continue // it waits in vain for eight clean nodes, ten seconds each
		}
		r := runOne(t, lie, name)
		all.Cases = append(all.Cases, r.Cases...)
	}
	return all
}

func runOne(t *testing.T, lie liar.Lie, name string) *report.Report {
	t.Helper()
	return runOn(t, "", lie, name)
}

// runOn keeps the configurations of CNI in a folder that may be on another disk.
func runOn(t *testing.T, disk string, lie liar.Lie, name string) *report.Report {
	t.Helper()
	folder, err := os.MkdirTemp("", "liar") // short enough for sockets
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	r, err := liar.Start(folder, lie)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	if disk == "" {
		disk = folder
	}
	bin, conf := network(t, folder, disk)
	r.SetNetwork(bin, conf)
	got, err := conformance.Run(t.Context(), conformance.Options{
		CRI: r.CRI(), NRI: r.NRI(), CNIBin: bin, CNIConf: conf, Image: "none", Cases: []string{name}, Records: true,
	})
	require.NoError(t, err)
	return got
}

// network makes folders of CNI with plugins that always succeed, and one network of them.
func network(t *testing.T, folder, disk string) (bin, conf string) {
	t.Helper()
	bin, conf = filepath.Join(folder, "cni-bin"), filepath.Join(disk, "cni-conf")
	require.NoError(t, os.Mkdir(bin, 0o755))
	require.NoError(t, os.Mkdir(conf, 0o755))
	for _, name := range []string{"ptp", "host-local", "loopback"} {
		require.NoError(t, script.Write(filepath.Join(bin, name), "#!/bin/sh\ncat >/dev/null\n"))
	}
	own := `{"cniVersion": "1.1.0", "name": "own", "plugins": [{"type": "ptp"}]}`
	require.NoError(t, os.WriteFile(filepath.Join(conf, "10-own.conflist"), []byte(own), 0o644))
	t.Cleanup(func() { // a case leaves the folders as it found them
		var left []string
		for _, folder := range []string{bin, conf} {
			files, err := filepath.Glob(filepath.Join(folder, "*"))
			require.NoError(t, err)
			left = append(left, files...)
		}
		require.Len(t, left, 4, "%q", left)
		kept, err := os.ReadFile(filepath.Join(conf, "10-own.conflist"))
		require.NoError(t, err)
		require.Equal(t, own, string(kept))
	})
	return bin, conf
}

func not(r *report.Report, v report.Verdict) (names []string) {
	for _, c := range r.Cases {
		if c.Verdict != v {
			names = append(names, fmt.Sprint(c.Name, " ", c.Verdict, " ", c.Reason, c.Broken()))
		}
	}
	return names
}

func TestHonestRuntimePasses(t *testing.T) {
	r := run(t, liar.Honest)
	require.Empty(t, not(r, report.Passed))
	require.Equal(t, len(keptByTheHonest), r.Count(report.Passed))
	require.Zero(t, r.Exit())
}

// Nodes have /opt and /etc on different disks.
func TestFoldersOfCNIMayBeOnTwoDisks(t *testing.T) {
	disk, err := os.MkdirTemp("/dev/shm", "liar")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(disk)) })
	require.Empty(t, not(runOn(t, disk, liar.Honest, "N1_NetworkReadyIsTheStatusOfTheNetwork"), report.Passed))
}

// A missing runtime is reported as such, and not as one that cannot pull an image.
func TestMissingRuntimeIsReportedFirst(t *testing.T) {
	_, err := conformance.Run(t.Context(), conformance.Options{CRI: "/nowhere", NRI: "/nowhere"})
	require.ErrorContains(t, err, "ask the runtime at /nowhere for its pods")
}

// Each lie fails the expected cases, and no other.
func TestEachLieIsFound(t *testing.T) {
	for lie, found := range foundBy {
		t.Run(string(lie), func(t *testing.T) {
			t.Parallel()
			r := run(t, lie)
			var failed []string
			for _, c := range r.Cases {
				if c.Verdict == report.Failed {
					failed = append(failed, c.Name)
				} else {
					require.Equal(t, report.Passed, c.Verdict, "%s: %s", c.Name, c.Reason)
				}
			}
			require.ElementsMatch(t, found, failed, "%q", failed)
			require.Equal(t, 1, r.Exit())
		})
	}
	require.Len(t, foundBy, len(liar.Lies()))
}

var foundBy = map[liar.Lie][]string{
	liar.StopsPodBeforeContainers: {"L10_PodIsIntactInItsStopHook", "L11_EveryEndIsDeliveredOnceHoweverAPodEnds", "L1_ContainersEndBeforeTheirPod"},
	liar.LosesAdjustments:         {"L1_AdjustmentReachesTheContainerAndThePluginsAfter"},
	liar.SynchronizesNoPods:       {"L2_JoiningPluginReceivesRunningPods"},
	liar.SendsNoRemoval: { // in each life that a case checks to its end
		"L1_ContainerThatWasStoppedBeforeItsStartHasOneStop", "L11_EveryEndIsDeliveredOnceHoweverAPodEnds", "L11_RepeatedTeardownDeliversNothing",
		"L1_ContainersEndBeforeTheirPod", "L1_EventsOfAPodComeInOrder", "L2_JoiningPluginReceivesRunningPods", "L3_RemovalOfARunningPodDeliversEveryEnd",
		"L8_StopGoesOnIfAPluginFails", "L9_TeardownReachesAllIfAPluginCrashes",
	},
	liar.ShowsPodInItsHook:      {"L6_PodIsHiddenWhileItsHookRuns"},
	liar.CreatesContainerInHook: {"L6_PodIsHiddenWhileItsHookRuns"},
	liar.LeavesContainers: { // in each case that removes a pod with containers
		"L1_ContainersEndBeforeTheirPod", "L3_RemovalOfARunningPodDeliversEveryEnd",
		"L6_PodIsHiddenWhileItsHookRuns", "L10_PodIsIntactInItsStopHook", "L12_EventsOfALifeComeOnceAndInOrder",
	},
	liar.SendsNoStops:              {"L12_EventsOfALifeComeOnceAndInOrder"},
	liar.SaysNetworkIsReady:        {"N1_NetworkReadyIsTheStatusOfTheNetwork", "N1_NetworkWithoutConfigurationIsNotReady", "N2_PodsAreRejectedWhileStatusFails"},
	liar.TakesPodsWithoutNetwork:   {"N2_PodsAreRejectedWhileStatusFails"},
	liar.FailsStopIfAPluginFails:   {"L8_StopGoesOnIfAPluginFails"},
	liar.SendsEveryStop:            {"L11_EveryEndIsDeliveredOnceHoweverAPodEnds"},
	liar.CreatesContainerInStopped: {"L11_NoContainerIsCreatedInAStoppedPod"},
	liar.SendsStartTwice: { // in each life of a container that a case checks whole
		"L1_ContainerThatWasStoppedBeforeItsStartHasOneStop", "L11_EveryEndIsDeliveredOnceHoweverAPodEnds", "L11_RepeatedTeardownDeliversNothing",
		"L1_ContainersEndBeforeTheirPod", "L1_EventsOfAPodComeInOrder",
	},
}

// The runtime uses the released adaptation, which delivers no missed events. The case finds that.
func TestReleasedAdaptationDeliversNoMissedEvents(t *testing.T) {
	t.Parallel()
	r := runOne(t, liar.Honest, "L18_EndsWhileAPluginIsDisconnectedAreDeliveredOnReturn")
	require.Len(t, r.Cases, 1)
	require.Equal(t, report.Failed, r.Cases[0].Verdict, r.Cases[0].Reason)
	for _, p := range r.Cases[0].Promises {
		require.Equal(t, p.Rule == "L18", p.Verdict == report.Failed, "%s %s: %s", p.Rule, p.Holds, p.Seen)
	}
}

// The page lists the rules that have no case.
func TestPageNamesRulesWithoutCases(t *testing.T) {
	page, err := os.ReadFile("../docs/conformance.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "<!-- uncovered -->"+strings.Join(conformance.WithoutCases(), ", ")+"<!-- /uncovered -->")
}
