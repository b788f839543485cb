// SPDX-License-Identifier: Apache-2.0

package liar

// Lie is what the runtime does wrong.
type Lie string

// Honest does nothing wrong but what NRI's adaptation does.
const Honest Lie = "honest"

// The lies, each about one rule.
const (
	StopsPodBeforeContainers  Lie = "stops a pod before its containers"                // L1
	LosesAdjustments          Lie = "loses what a plugin adjusts"                      // L1
	TellsNoPodToWhoJoins      Lie = "tells no pod to who joins"                        // L2
	TellsNoRemoval            Lie = "tells no removal of a pod"                        // L3
	ShowsPodInItsHook         Lie = "shows a pod while its hook runs"                  // L6
	CreatesContainerInHook    Lie = "creates containers in a pod whose hook runs"      // L6
	LeavesContainers          Lie = "leaves the containers of a pod that is removed"   // L7
	FailsStopIfAPluginFails   Lie = "fails the stop of a pod if a plugin does"         // L8
	TellsEveryStop            Lie = "tells each stop of a pod, also if it is repeated" // L11
	CreatesContainerInStopped Lie = "creates containers in a stopped pod"              // L11
	TellsStartTwice           Lie = "tells the start of a container twice"             // L1
	SendsNoStops              Lie = "sends no events of stops"                         // L12
	SaysNetworkIsReady        Lie = "says that its network is ready"                   // N1
	TakesPodsWithoutNetwork   Lie = "takes pods while its network takes none"          // N2
)

// Lies are all of them.
func Lies() []Lie {
	return []Lie{
		StopsPodBeforeContainers, LosesAdjustments, TellsNoPodToWhoJoins, TellsNoRemoval, ShowsPodInItsHook, CreatesContainerInHook,
		LeavesContainers, FailsStopIfAPluginFails, TellsEveryStop, CreatesContainerInStopped, TellsStartTwice,
		SendsNoStops, SaysNetworkIsReady, TakesPodsWithoutNetwork,
	}
}
