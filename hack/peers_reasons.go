// SPDX-License-Identifier: Apache-2.0

package main

// peerReasons say why cases fail with both versions of NRI, by peer and case.
var peerReasons = map[string]map[string]string{
	"crio": byCase(
		fails{"CRI-O holds a lock of its own in each hook, in Synchronize and in updates that plugins ask for", []string{
			"L14_SlowHookDelaysOnlyItsOwnPod", "L4_PluginMayAskForUpdatesInItsHandlers", "L2_JoiningPluginReceivesAContainerInCreationOnce",
			"L2_PluginThatReturnsDuringACreationAdjustsOnce", "L2_JoiningPluginReceivesAPodInItsHookAndIsAsked", "L11_PodIsStoppedWhileAContainerIsCreated",
			"L11_PodIsStoppedWhileAContainerIsStarted", "L19_PluginsAreReplacedTogetherDuringACreation", "L22_PluginThatFreezesInItsRegistrationBlocksNothing",
			"[k8s.io] NRI event delivery should synchronize a plugin with a pod whose RunPodSandbox hook is in progress",
		}},
		fails{"CRI-O does not stop or remove a pod that is being created", []string{"L11_PodInItsHookCanBeEnded"}},
		fails{"CRI-O lists statistics of a pod that is being created", []string{"L6_PodIsHiddenWhileItsHookRuns"}},
		fails{"CRI-O adds to the plugin's error neither the pod nor the container", []string{
			"L16_PodIsRejectedIfARequiredPluginDoesNotAnswer", "L17_ErrorOfARejectedPodNamesThePlugin", "L17_ErrorOfARejectedContainerNamesThePlugin",
		}},
		fails{"CRI-O fails a stop whose plugin answers with an error, before it has stopped the rest", []string{
			"L8_StopGoesOnIfAPluginFails", "L9_TeardownReachesAllIfAPluginFails",
			"[k8s.io] NRI event delivery should deliver teardown events to the other plugins when one plugin fails them",
		}},
		fails{"the stop of a pod overtakes that of its container, which ended by itself", []string{
			"L3_EndsAreDeliveredWhilePluginsCrashAndReturn", "L1_ContainersEndBeforeTheirPod",
		}},
		fails{"CRI-O sends plugins no event when it removes a container whose creation failed", []string{"L3_JoiningPluginReceivesNothingThatIsGone"}},
		fails{"CRI-O sends no event of the creation and the deletion of a pod", []string{"L12_DeletionIsSentWhenThePodIsGone", "L12_EventsOfALifeComeOnceAndInOrder"}},
		fails{"CRI-O keeps no record over a restart of the events that plugins received", []string{
			"L15_EndsOfPodsFromBeforeARestartAreDelivered", "L15_PodInterruptedInItsHookIsNotReady", "L15_RemovalInterruptedByAKillIsDeliveredAgain",
		}},
		fails{"CRI-O gives the patched NRI no place for missed events, which containerd does", []string{
			"L18_EndThatKeepsCrashingItsPluginIsDropped", "L18_MissedEndDescribesItsPod",
			"L18_EndsWhileAPluginIsDisconnectedAreDeliveredAfterARestart", "L18_EndsWhileAPluginIsDisconnectedAreDeliveredOnReturn",
		}},
		fails{"CRI-O makes a pod of an earlier case although its caller has canceled, and lists it from its next start on", []string{
			"N3_PodsEndWithoutTheirConfigurationAfterARestart",
		}},
		fails{"CRI-O runs STATUS under a lock that pods and the status of the runtime wait for", []string{
			"N1_HungStatusDelaysNoCall", "N2_PodsAreRejectedWhileStatusFails", "N4_HungStatusDelaysNoPodAndNoReload",
		}},
	),
}

// fails has the reason why cases fail.
type fails struct {
	why   string
	cases []string
}

func byCase(all ...fails) map[string]string {
	reasons := map[string]string{}
	for _, f := range all {
		for _, name := range f.cases {
			reasons[name] = f.why
		}
	}
	return reasons
}
