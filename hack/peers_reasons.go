// SPDX-License-Identifier: Apache-2.0

package main

// peerReasons say why cases fail whatever NRI a peer has, by peer and case.
var peerReasons = map[string]map[string]string{
	"crio": byCase(
		fails{"CRI-O holds a lock of its own in each hook, in Synchronize and in updates that plugins ask for", []string{
			"L14_SlowHookHoldsUpOnlyItsOwnPod", "L4_PluginMayAskForUpdatesInItsHandlers", "L2_JoiningPluginReceivesAContainerInCreationOnce",
			"L2_PluginThatReturnsDuringACreationAdjustsOnce", "L2_JoiningPluginReceivesAPodInItsHookAndIsAsked", "L11_PodIsStoppedWhileAContainerIsCreated",
			"L11_PodIsStoppedWhileAContainerIsStarted", "L19_PluginsAreReplacedTogetherInTheMidstOfACreation", "L22_PluginThatFreezesInItsRegistrationBlocksNothing",
			"[k8s.io] NRI event delivery should synchronize a plugin with a pod whose RunPodSandbox hook is in progress",
		}},
		fails{"CRI-O does not stop or remove a pod that is being created", []string{"L11_PodInItsHookCanBeEnded"}},
		fails{"CRI-O lists statistics of a pod that is being created", []string{"L6_PodIsHiddenWhileItsHookRuns"}},
		fails{"CRI-O adds to the plugin's error neither the pod nor the container", []string{
			"L16_PodIsRejectedIfARequiredPluginDoesNotAnswer", "L17_ErrorOfARefusedPodNamesThePlugin", "L17_ErrorOfARefusedContainerNamesThePlugin",
		}},
		fails{"CRI-O fails a stop whose plugin answers with an error, before it has stopped the rest", []string{
			"L8_StopGoesOnIfAPluginFails", "L9_TeardownReachesAllIfAPluginFails",
			"[k8s.io] NRI event delivery should deliver teardown events to the other plugins when one plugin fails them",
		}},
		fails{"the stop of a pod overtakes that of its container, which ended by itself", []string{
			"L3_EndsAreDeliveredWhilePluginsCrashAndReturn", "L1_ContainersEndBeforeTheirPodWhateverTheyDo",
		}},
		fails{"CRI-O removes a container whose creation failed without a word to plugins", []string{"L3_JoiningPluginReceivesNothingThatIsGone"}},
		fails{"CRI-O sends no event of the creation and the deletion of a pod", []string{"L12_DeletionIsSentWhenThePodIsGone", "L12_EventsOfALifeComeOnceAndInOrder"}},
		fails{"CRI-O keeps nothing of what it has told plugins over a restart", []string{
			"L15_EndsOfPodsOfBeforeARestartAreDelivered", "L15_PodThatWasCutInItsHookIsNotReady", "L15_RemovalCutByAKillIsDeliveredAgain",
		}},
		fails{"CRI-O gives the patched NRI no place for missed events, which containerd does", []string{
			"L18_EndThatBreaksItsPluginIsGivenUp", "L18_EndDeliveredLaterHasItsPod",
			"L18_EndsWhileAPluginIsDisconnectedAreDeliveredAfterARestart", "L18_EndsWhileAPluginIsDisconnectedAreDeliveredOnReturn",
		}},
		fails{"CRI-O makes a pod whose caller has given up, of a case before, and lists it from its next start on", []string{
			"N3_PodsEndWithoutTheirConfigurationAfterARestart",
		}},
		fails{"CRI-O runs STATUS under a lock that pods and the status of the runtime wait for", []string{
			"N1_HungStatusDelaysNoCall", "N2_PodsAreRefusedWhileStatusFails", "N4_HungStatusDelaysNoPodAndNoReload",
		}},
	),
}

// fails is why cases fail.
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
