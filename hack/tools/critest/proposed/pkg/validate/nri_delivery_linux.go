// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"errors"
	"flag"
	"os/exec"
	"slices"
	"sync"
	"time"

	nri "github.com/containerd/nri/pkg/api"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"sigs.k8s.io/cri-tools/pkg/common"
	"sigs.k8s.io/cri-tools/pkg/framework"
)

// runtimeRestartCommand restarts the runtime while pods keep running, such as
// "systemctl restart containerd". It may return before the runtime serves again.
var runtimeRestartCommand = flag.String("runtime-restart-command", "",
	"Shell command that restarts the container runtime. Tests that restart the runtime are skipped when not set.")

const (
	// nriDeliveryTimeout is how long an event may take to reach a plugin after
	// the CRI call that caused it.
	nriDeliveryTimeout = 10 * time.Second

	// nriHookTimeout is how long a hook may take to be called.
	nriHookTimeout = 30 * time.Second

	// nriRestartTimeout is how long a runtime may take to serve after a restart.
	nriRestartTimeout = 2 * time.Minute

	nriPollInterval = 50 * time.Millisecond
)

// nriTeardown are the events that end a pod with one container, in the order in
// which CRI calls for them: the container is removed before its pod is stopped.
var nriTeardown = []NRIEventType{EventStopContainer, EventRemoveContainer, EventStopPodSandbox, EventRemovePodSandbox}

var _ = framework.KubeDescribe("NRI event delivery", func() {
	var (
		f  = framework.NewDefaultCRIFramework()
		ic internalapi.ImageManagerService
		rc internalapi.RuntimeService
	)

	BeforeEach(func() {
		if framework.TestContext.NRISocketPath == "" {
			Skip("no NRI socket is configured (see -nri-socket)")
		}

		rc, ic = f.CRIClient.CRIRuntimeClient, f.CRIClient.CRIImageClient
	})

	// remove removes a pod sandbox at the end of a spec, whatever its state.
	remove := func(ctx context.Context, podID string) {
		if err := errors.Join(rc.StopPodSandbox(ctx, podID), rc.RemovePodSandbox(ctx, podID)); err != nil {
			framework.Logf("pod sandbox %s is left behind: %v", podID, err)
		}
	}
	removeAtEnd := func(podID string) {
		DeferCleanup(func(ctx SpecContext) { remove(ctx, podID) })
	}

	It("should deliver teardown events to the other plugins when one plugin fails them", Serial, func(ctx SpecContext) {
		failing := connectNRIPlugin("delivery-failing", "00", func(p *NRITestPlugin) {
			failPod := func(context.Context, *nri.PodSandbox) error {
				return errors.New("induced failure of a pod event")
			}
			failContainer := func(context.Context, *nri.PodSandbox, *nri.Container) error {
				return errors.New("induced failure of a container event")
			}

			p.OnStopContainer, p.OnRemoveContainer = failContainer, failContainer
			p.OnStopPodSandbox, p.OnRemovePodSandbox = failPod, failPod
		})
		other := connectNRIPlugin("delivery-other", "10")

		By("running a pod with a container")

		podID, config := framework.CreatePodSandboxForContainer(ctx, rc)
		removeAtEnd(podID)

		containerID := framework.CreateDefaultContainer(ctx, rc, ic, podID, config, "nri-delivery-")
		framework.ExpectNoError(rc.StartContainer(ctx, containerID), "container %s should start", containerID)

		By("stopping and removing both")
		framework.ExpectNoError(rc.StopContainer(ctx, containerID, 0), "a failing plugin MUST NOT fail StopContainer")
		framework.ExpectNoError(rc.RemoveContainer(ctx, containerID), "a failing plugin MUST NOT fail RemoveContainer")
		framework.ExpectNoError(rc.StopPodSandbox(ctx, podID), "a failing plugin MUST NOT fail StopPodSandbox")
		framework.ExpectNoError(rc.RemovePodSandbox(ctx, podID), "a failing plugin MUST NOT fail RemovePodSandbox")

		By("verifying that both plugins received all teardown events")
		Eventually(nriEventsOf(failing.Plugin, podID, nriTeardown...), nriDeliveryTimeout, nriPollInterval).Should(Equal(nriTeardown),
			"the plugin that fails teardown events should receive each of them once")
		Eventually(nriEventsOf(other.Plugin, podID, nriTeardown...), nriDeliveryTimeout, nriPollInterval).Should(Equal(nriTeardown),
			"a plugin MUST receive each teardown event once, also if a plugin before it fails the event")
	})

	It("should deliver teardown events of a pod that was created before the runtime restarted", Serial, func(ctx SpecContext) {
		if *runtimeRestartCommand == "" {
			Skip("no command restarts the runtime (see -runtime-restart-command)")
		}

		before := connectNRIPlugin("delivery-restart", "00")
		podID := framework.RunDefaultPodSandbox(ctx, rc, "nri-delivery-restart-")
		removeAtEnd(podID)

		By("restarting the runtime")

		//nolint:gosec // the caller of the tests says what restarts the runtime
		output, err := exec.CommandContext(ctx, "sh", "-c", *runtimeRestartCommand).CombinedOutput()
		framework.ExpectNoError(err, "the command that restarts the runtime failed: %s", output)
		Eventually(before.done, nriRestartTimeout).Should(BeClosed(),
			"the runtime did not restart: the plugin is still connected")

		By("waiting until the runtime is ready")
		Eventually(func(g Gomega) {
			response, err := rc.Status(ctx, false)
			g.Expect(err).NotTo(HaveOccurred())

			for _, condition := range response.GetStatus().GetConditions() {
				// A runtime may have conditions of its own, which need not hold.
				if condition.GetType() != runtimeapi.RuntimeReady && condition.GetType() != runtimeapi.NetworkReady {
					continue
				}

				g.Expect(condition.GetStatus()).To(BeTrue(), "%s: %s", condition.GetType(), condition.GetMessage())
			}
		}, nriRestartTimeout, time.Second).Should(Succeed())

		By("connecting the plugin again")

		var after *NRITestStub

		Eventually(func() (err error) {
			after, err = StartNRITestStub("delivery-restart", "00")

			return err
		}, nriRestartTimeout, time.Second).Should(Succeed(), "the plugin should connect after the restart")
		DeferCleanup(func() { after.Cleanup() })
		Expect(after.Plugin.SyncedPods()).To(ContainElement(podID),
			"Synchronize MUST include pod sandbox %s, which outlived the restart", podID)

		By("stopping and removing the pod")
		framework.ExpectNoError(rc.StopPodSandbox(ctx, podID), "StopPodSandbox after the restart")
		framework.ExpectNoError(rc.RemovePodSandbox(ctx, podID), "RemovePodSandbox after the restart")

		By("verifying that the plugin received the end of the pod")

		ends := []NRIEventType{EventStopPodSandbox, EventRemovePodSandbox}
		Eventually(nriEventsOf(after.Plugin, podID), nriDeliveryTimeout, nriPollInterval).Should(Equal(ends),
			"a plugin that was synchronized with a pod MUST receive its StopPodSandbox and RemovePodSandbox, also after a restart")
	})

	It("should synchronize a plugin with a pod whose RunPodSandbox hook is in progress", Serial, func(ctx SpecContext) {
		var (
			inHook = make(chan string, 1) // gets the pod once its hook is in progress
			over   = make(chan struct{})  // closed when the hook is over
			synced = make(chan struct{})  // closed when the late plugin is synchronized
			once   sync.Once
			coming []string // pods in a Synchronize that came during the hook
		)

		config := nriDeliveryPod(ctx, rc, "nri-delivery-late-")

		// The hook lasts until the late plugin is synchronized. If the runtime does
		// not do that meanwhile, its request timeout ends the hook.
		connectNRIPlugin("delivery-hook", "00", func(p *NRITestPlugin) {
			p.OnRunPodSandbox = func(hookCtx context.Context, pod *nri.PodSandbox) error {
				if pod.GetName() != config.GetMetadata().GetName() {
					return nil
				}

				defer close(over)

				inHook <- pod.GetId()

				select {
				case <-synced:
				case <-hookCtx.Done():
				}

				return nil
			}
		})

		By("running a pod in the background")

		var (
			running       sync.WaitGroup
			podID, hookID string
			runErr        error
			ready         time.Time // when RunPodSandbox had returned
		)

		running.Go(func() {
			podID, runErr = rc.RunPodSandbox(ctx, config, framework.TestContext.RuntimeHandler)
			ready = time.Now()
		})
		DeferCleanup(func(ctx SpecContext) {
			running.Wait()

			if podID != "" {
				remove(ctx, podID)
			}
		})
		Eventually(inHook, nriHookTimeout).Should(Receive(&hookID), "the RunPodSandbox hook was not called")

		By("connecting another plugin during the hook")

		late := connectNRIPlugin("delivery-late", "10", func(p *NRITestPlugin) {
			p.OnSynchronize = func(_ context.Context, pods []*nri.PodSandbox, _ []*nri.Container) error {
				once.Do(func() {
					defer close(synced)

					select {
					case <-over:
					default:
						for _, pod := range pods {
							coming = append(coming, pod.GetId())
						}
					}
				})

				return nil
			}
		})

		running.Wait()
		framework.ExpectNoError(runErr, "no plugin rejected the pod")

		By("verifying that the plugin was synchronized with the pod during the hook")
		Expect(hookID).To(Equal(podID))
		Expect(coming).To(ContainElement(podID),
			"a plugin that connects while a pod is created MUST be synchronized with that pod before it is ready")

		By("verifying that the plugin was asked before the pod was ready")

		asked := slices.ContainsFunc(FilterEventsByPodID(late.Plugin.Events(), podID), func(e NRIEvent) bool {
			return e.Type == EventRunPodSandbox && e.Timestamp.Before(ready)
		})
		Expect(asked).To(BeTrue(), "a plugin that connects while a pod is created MUST receive its RunPodSandbox before it is ready")
	})

	It("should not deliver teardown events of a rejected pod to plugins that were not asked", Serial, func(ctx SpecContext) {
		rejected := nriDeliveryPod(ctx, rc, "nri-delivery-rejected-")
		approving := connectNRIPlugin("delivery-approving", "00")
		rejecting := connectNRIPlugin("delivery-rejecting", "10", func(p *NRITestPlugin) {
			p.OnRunPodSandbox = func(_ context.Context, pod *nri.PodSandbox) error {
				if pod.GetName() == rejected.GetMetadata().GetName() {
					return errors.New("induced rejection of a pod")
				}

				return nil
			}
		})
		unasked := connectNRIPlugin("delivery-unasked", "20")

		By("running a pod that the second of three plugins rejects")
		framework.RunPodSandboxError(ctx, rc, rejected)

		rejectedID := rejecting.Plugin.LastRunPodSandboxID()
		Expect(rejectedID).NotTo(BeEmpty(), "the plugin that rejects the pod should have received its RunPodSandbox")
		removeAtEnd(rejectedID)

		By("verifying that the plugin that approved the pod received its end")

		life := []NRIEventType{EventRunPodSandbox, EventStopPodSandbox, EventRemovePodSandbox}
		Eventually(nriEventsOf(approving.Plugin, rejectedID), nriDeliveryTimeout, nriPollInterval).Should(Equal(life),
			"a plugin that approved a pod MUST receive its end when another plugin rejects it")

		By("running another pod, which all plugins approve")

		podID := framework.RunDefaultPodSandbox(ctx, rc, "nri-delivery-approved-")
		removeAtEnd(podID)

		By("verifying that the plugin that was not asked received nothing of the rejected pod")
		// A plugin receives one event at a time. When it has received one of the
		// other pod, none of the rejected pod is on its way.
		Eventually(nriEventsOf(unasked.Plugin, podID), nriDeliveryTimeout, nriPollInterval).Should(ContainElement(EventRunPodSandbox),
			"the third plugin should receive RunPodSandbox of a pod that the second approves")
		Expect(nriEventsOf(unasked.Plugin, rejectedID)()).To(BeEmpty(),
			"a plugin that was never asked about a pod MUST NOT receive events of it")
	})
})

// connectNRIPlugin connects a plugin for the time of a spec.
func connectNRIPlugin(name, index string, configure ...func(*NRITestPlugin)) *NRITestStub {
	GinkgoHelper()

	connected, err := StartNRITestStub(name, index, configure...)
	framework.ExpectNoError(err, "NRI plugin %s-%s should connect", index, name)
	DeferCleanup(connected.Cleanup)

	return connected
}

// nriEventsOf returns a function that returns the events of a pod and its containers that
// the plugin has received so far, in order: those of some types, or all.
func nriEventsOf(plugin *NRITestPlugin, podID string, types ...NRIEventType) func() []NRIEventType {
	return func() []NRIEventType {
		received := []NRIEventType{}

		events := FilterEventsByPodID(plugin.Events(), podID)
		for i := range events {
			if len(types) == 0 || slices.Contains(types, events[i].Type) {
				received = append(received, events[i].Type)
			}
		}

		return received
	}
}

// nriDeliveryPod is the configuration of a pod sandbox.
func nriDeliveryPod(ctx context.Context, rc internalapi.RuntimeService, prefix string) *runtimeapi.PodSandboxConfig {
	id := framework.NewUUID()
	metadata := framework.BuildPodSandboxMetadata(prefix+id, framework.DefaultUIDPrefix+id, framework.DefaultNamespacePrefix+id, framework.DefaultAttempt)

	return &runtimeapi.PodSandboxConfig{
		Metadata: metadata,
		Labels:   framework.DefaultPodLabels,
		Linux:    &runtimeapi.LinuxPodSandboxConfig{CgroupParent: common.GetCgroupParent(ctx, rc)},
	}
}
