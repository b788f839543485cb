// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

// driver runs a DRA driver on the worker until the end of the test, with a device class of its name. Its devices
// require an NRI plugin.
func (c *cluster) driver(t testing.TB, namespace, required string) (name string) {
	t.Helper()
	name = pluginName("driver", namespace) + ".e2e.hookline.dev"
	role := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"}},
	}
	_, err := c.RbacV1().ClusterRoleBindings().Create(t.Context(), role, metav1.CreateOptions{})
	require.NoError(t, err)
	class := &resourceapi.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourceapi.DeviceClassSpec{
		Selectors: []resourceapi.DeviceSelector{{CEL: &resourceapi.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", name)}}},
	}}
	_, err = c.ResourceV1().DeviceClasses().Create(t.Context(), class, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		require.NoError(t, errors.Join(
			c.ResourceV1().DeviceClasses().Delete(ctx, name, metav1.DeleteOptions{}),
			c.RbacV1().ClusterRoleBindings().Delete(ctx, name, metav1.DeleteOptions{}),
			c.ResourceV1().ResourceSlices().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "spec.driver=" + name}),
		))
		c.onNode(t, "sh", "-c", "rm -f /var/run/cdi/"+name+"*")
	})
	c.pod(t, namespace, "driver", func(p *corev1.Pod) {
		p.Spec.AutomountServiceAccountToken = nil
		main := &p.Spec.Containers[0]
		main.Args = []string{"driver", "-name", name, "-requires", required, "-node", c.worker}
		for folder, path := range map[string]string{
			"plugins": "/var/lib/kubelet/plugins", "registry": "/var/lib/kubelet/plugins_registry", "cdi": "/var/run/cdi",
		} {
			kind := corev1.HostPathDirectoryOrCreate
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: folder, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}})
			main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: folder, MountPath: path})
		}
	})
	c.podReady(t, namespace, "driver")
	return name
}

// claiming has the only container of a pod use a device of a class, by a claim of its own.
func (c *cluster) claiming(t testing.TB, namespace, class string) func(*corev1.Pod) {
	t.Helper()
	template := &resourceapi.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Name: "device"}, Spec: resourceapi.ResourceClaimTemplateSpec{
		Spec: resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{Requests: []resourceapi.DeviceRequest{
			{Name: "one", Exactly: &resourceapi.ExactDeviceRequest{DeviceClassName: class}},
		}}},
	}}
	_, err := c.ResourceV1().ResourceClaimTemplates(namespace).Create(t.Context(), template, metav1.CreateOptions{})
	require.NoError(t, err)
	return func(p *corev1.Pod) {
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device", ResourceClaimTemplateName: &template.Name}}
		p.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "device"}}
	}
}

// hasSandbox waits until the sandbox of a pod is ready.
func (c *cluster) hasSandbox(t testing.TB, namespace, name string) {
	t.Helper()
	eventually(t, later, "the sandbox of pod "+name, func(ctx context.Context) error {
		p, err := c.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range p.Status.Conditions {
			if condition.Type == corev1.PodReadyToStartContainers && condition.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", p.Status.Conditions)
	})
}

// A DRA driver has prepared the claim of a pod, and its NRI plugin is disconnected. Neither the pod nor a setting
// names the plugin. The kubelet of today makes the sandbox without it, and no container.
func TestL29_ContainerWithAClaimWaitsForThePluginOfItsDriver(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	own, ns := c.namespace(t), c.namespace(t)
	c.settings(t, "[plugins.\"io.containerd.nri.v1.nri\"]\ncdi_required_plugins = true\n")
	c.ready(t)
	class := c.driver(t, own, pluginName("nic", own))
	claiming := c.claiming(t, ns, class)

	c.pod(t, ns, "early", claiming)
	c.event(t, ns, "early", "Failed", "required plugin "+pluginName("nic", own)+" is disconnected since")
	c.hasSandbox(t, ns, "early")
	c.pod(t, ns, "plain", nil)
	c.podReady(t, ns, "plain")

	// The kubelet prepares a claim that no container lists, and gives no container its device.
	c.pod(t, ns, "unlisted", func(p *corev1.Pod) {
		claiming(p)
		p.Spec.Containers[0].Resources.Claims = nil
	})
	c.podReady(t, ns, "unlisted")

	nic := c.record(t, "nic", recorderOptions{namespace: own})
	nic.connected(t)
	early := c.podReady(t, ns, "early")
	calls := requireLawful(t, nic.received(t), ns)
	require.Equal(t, 1, times(calls, plugin.CreateContainer)[string(early.UID)], "it started with the plugin's answer")
	require.Zero(t, times(calls, plugin.RunPodSandbox)[string(early.UID)], "the pod came in Synchronize")

	// Once more while the plugin is disconnected, over a restart of containerd. Pods go without the plugin.
	nic.gone(t)
	c.restartContainerd(t, "KILL")
	c.pod(t, ns, "later", claiming)
	c.event(t, ns, "later", "Failed", "required plugin "+pluginName("nic", own)+" is disconnected since")
	for _, name := range []string{"later", "early", "plain", "unlisted"} {
		c.podGone(t, ns, name, soon)
	}
}
