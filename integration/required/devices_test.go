// SPDX-License-Identifier: Apache-2.0

package required

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// odd is a specification whose annotation is no list.
const odd = `{
  "cdiVersion": "0.6.0",
  "kind": "vendor.example/odd",
  "annotations": {"required-plugins.noderesource.dev": "nic-driver"},
  "devices": [{"name": "odd", "containerEdits": {"env": ["A=1"]}}]
}`

// withDevices lets devices require plugins.
const withDevices = "[plugins.'io.containerd.nri.v1.nri']\ncdi_required_plugins = true\n"

// nicSpecification returns the specification in docs/plugins.md.
func nicSpecification(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/plugins.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)\n   ```yaml\n(   cdiVersion.*?)   ```\n").FindStringSubmatch(string(page))
	require.NotNil(t, block, "the page has no specification")
	return strings.ReplaceAll("\n"+block[1], "\n   ", "\n")
}

// The specification that authors read, beside odd ones.
func TestL29_SpecificationOfADeviceRequiresPlugins(t *testing.T) {
	t.Parallel()
	const settings = NoRule + "[plugins.'io.containerd.nri.v1.nri'.plugins.nic-driver]\nwait = '300ms'\nexempt_namespaces = ['exempt']\n"
	nodes := map[string]*node.Node{
		"on":  StartNode(t, WithConfig(settings+withDevices)),
		"off": StartNode(t, WithConfig(settings)),
	}
	for _, n := range nodes {
		require.NoError(t, os.Mkdir(n.CDI(), 0o755))
		for file, text := range map[string]string{
			"a-nics.yaml": nicSpecification(t),
			"b-odd.json":  odd,
			"c-torn.json": odd[:len(odd)/2],
		} {
			require.NoError(t, os.WriteFile(filepath.Join(n.CDI(), file), []byte(text), 0o644))
		}
	}
	for name, tc := range map[string]struct {
		node, namespace string
		device          string // in the field for it, none if empty
		annotated       bool   // in an annotation of the container instead
		code            codes.Code
		err             string
	}{
		"the container with the device of the page waits": {node: "on", device: "vendor.example/nic=nic-0", code: codes.Unavailable, err: "required plugin nic-driver is disconnected since"},
		"the one with its annotation waits":               {node: "on", device: "vendor.example/nic=nic-0", annotated: true, code: codes.Unavailable, err: "required plugin nic-driver is disconnected since"},
		"one in an exempt namespace starts":               {node: "on", namespace: "exempt", device: "vendor.example/nic=nic-0"},
		"a value that is no list rejects":                 {node: "on", device: "vendor.example/odd=odd", code: codes.FailedPrecondition, err: `b-odd.json: failed precondition: annotation required-plugins.noderesource.dev is "nic-driver": set it to a list`},
		"no value rejects if devices require no plugins":  {node: "off", device: "vendor.example/odd=odd"},
		"no device waits if devices require no plugins":   {node: "off", device: "vendor.example/nic=nic-0"},
		"a device without a specification is as before":   {node: "on", device: "vendor.example/none=0", code: codes.Unknown, err: "unresolvable CDI devices vendor.example/none=0"},
		"a container without a device starts":             {node: "on"},
	} {
		t.Run(name, func(t *testing.T) {
			n := nodes[tc.node]
			ctx, c := WithinAMinute(t), n.CRI()
			pod := c.Pod("web")
			if tc.namespace != "" {
				pod.Metadata.Namespace = tc.namespace
			}
			id, err := c.RunPod(ctx, pod)
			require.NoError(t, err)
			SpecifyDevices(t, n, id, pod) // and the others are known, too
			config := c.Container("main")
			switch {
			case tc.annotated:
				config.Annotations = map[string]string{"cdi.k8s.io/nic": tc.device}
			case tc.device != "":
				config = ContainerWith(c, "main", tc.device)
			}
			_, err = c.Create(ctx, id, pod, config)
			stock := OnStock(NotRequired)
			if tc.err == "" || tc.code == codes.Unknown {
				stock = KeptOnStock
			}
			Promise(t, "L29", name, stock, func(t require.TestingT) {
				if tc.err == "" {
					assert.NoError(t, err)
				} else {
					RequireReadable(t, err, tc.code, tc.err)
				}
			})
			RemoveAllPods(ctx, t, c)
			RequireNothingLeft(t, n)
		})
	}
}
