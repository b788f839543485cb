// SPDX-License-Identifier: Apache-2.0

package liar

// Lie is a way in which the runtime breaks the contract.
type Lie string

// Honest breaks only what NRI's adaptation breaks.
const Honest Lie = "honest"

// The lies, each about one rule.
const (
	StopsPodBeforeContainers  Lie = "stops a pod before its containers"                // L1
	LosesAdjustments          Lie = "loses what a plugin adjusts"                      // L1
	SynchronizesNoPods        Lie = "sends joining plugins no pods"                    // L2
	SendsNoRemoval            Lie = "sends no removal of a pod"                        // L3
	ShowsPodInItsHook         Lie = "shows a pod while its hook runs"                  // L6
	CreatesContainerInHook    Lie = "creates containers in a pod whose hook runs"      // L6
	LeavesContainers          Lie = "leaves the containers of a pod that is removed"   // L7
	FailsStopIfAPluginFails   Lie = "fails the stop of a pod if a plugin does"         // L8
	SendsEveryStop            Lie = "sends each stop of a pod, also if it is repeated" // L11
	CreatesContainerInStopped Lie = "creates containers in a stopped pod"              // L11
	SendsStartTwice           Lie = "sends the start of a container twice"             // L1
	SendsNoStops              Lie = "sends no events of stops"                         // L12
	SaysNetworkIsReady        Lie = "always says that its network is ready"            // N1
	TakesPodsWithoutNetwork   Lie = "starts pods while its network takes none"         // N2
)

// Lies returns all lies.
func Lies() []Lie {
	return []Lie{
		StopsPodBeforeContainers, LosesAdjustments, SynchronizesNoPods, SendsNoRemoval, ShowsPodInItsHook, CreatesContainerInHook,
		LeavesContainers, FailsStopIfAPluginFails, SendsEveryStop, CreatesContainerInStopped, SendsStartTwice,
		SendsNoStops, SaysNetworkIsReady, TakesPodsWithoutNetwork,
	}
}
