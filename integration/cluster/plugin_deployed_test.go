// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const manifests = "deploy/keeper.yaml"

// The documentation shows the manifests of the example plugin.
func TestDocumentationShowsTheManifests(t *testing.T) {
	want, err := os.ReadFile(manifests)
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/plugins.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "```yaml\n"+string(want)+"```\n")
}

// The example plugin, deployed with these manifests, keeps a file for each pod of a node and no
// other files, also over a restart of containerd.
func TestL2_PluginIsDeployedAsDocumented(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	text, err := os.ReadFile(manifests)
	require.NoError(t, err)
	var namespace corev1.Namespace
	var daemons appsv1.DaemonSet
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for _, into := range []any{&namespace, &daemons} {
		document, err := documents.Read()
		require.NoError(t, err)
		require.NoError(t, yaml.UnmarshalStrict(document, into))
	}
	_, err = documents.Read()
	require.ErrorIs(t, err, io.EOF)
	t.Cleanup(func() {
		c.deleteNamespace(t, namespace.Name, collect)
		require.NoError(t, c.onNodes("rm", "-rf", "/var/lib/keeper"))
	})
	_, err = c.CoreV1().Namespaces().Create(t.Context(), &namespace, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.AppsV1().DaemonSets(namespace.Name).Create(t.Context(), &daemons, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, later, "the plugin", func(ctx context.Context) error { return c.daemonSetReady(ctx, namespace.Name, daemons.Name) })

	ns := c.namespace(t)
	kept := func(pod string, want bool) {
		t.Helper()
		eventually(t, later, fmt.Sprintf("the file of pod %s: %v", pod, want), func(ctx context.Context) error {
			files, err := c.try(ctx, "sh", "-c", "cat /var/lib/keeper/pods/*/pod 2>/dev/null || true")
			if err == nil && strings.Contains(files, ns+"/"+pod+" ") != want {
				err = errors.New(files)
			}
			return err
		})
	}
	c.pod(t, ns, "one", nil)
	c.podReady(t, ns, "one")
	kept("one", true)
	c.restartContainerd(t, "KILL")
	c.pod(t, ns, "two", nil)
	c.podReady(t, ns, "two")
	kept("two", true)
	kept("one", true)
	c.podGone(t, ns, "one", soon)
	kept("one", false)
	c.podGone(t, ns, "two", soon)
}
