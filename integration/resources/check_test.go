// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/api/resource"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

const (
	resourcesDiffer = "containerd_cri_pod_resources_differences_total"
	differsFrom     = "differs from what was announced with the pod"
	nothingCompared = "nothing is compared"
)

// comparing makes the runtime compare containers with the announcement.
func comparing(how string) func(*node.Options) {
	return withSetting(fmt.Sprintf("pod_resources_check = %q", how))
}

// unquotedLog returns the log of the runtime, without the escapes of quotes in its messages.
func unquotedLog(t require.TestingT, n *node.Node) string {
	log, err := n.Log()
	require.NoError(t, err)
	return strings.ReplaceAll(log, `\"`, `"`)
}

// requireRejectedFor checks the error of a container that differs.
func requireRejectedFor(t require.TestingT, err error, differs string) {
	require.Equal(t, codes.FailedPrecondition, status.Code(err), err)
	assert.ErrorContains(t, err, `container "main" of pod default/web `+differsFrom+": "+differs)
}

// A container that differs from its announcement is let through, logged or rejected.
func TestR3_ContainerThatDiffersIsLetThroughLoggedOrRejected(t *testing.T) {
	t.Parallel()
	const differs = "requests[cpu]: announced 500m, got 2"
	for how, s := range map[string]struct{ logged, rejected bool }{
		"off": {}, "warn": {logged: true}, "enforce": {rejected: true}, "": {logged: true},
	} {
		t.Run("check "+how, func(t *testing.T) {
			n := StartNode(t, func(o *node.Options) {
				if how != "" {
					comparing(how)(o)
				}
			})
			p := plugin.New("10", "sums")
			Connect(t, n, p)
			ctx, c := WithinAMinute(t), n.CRI()
			pod := Announced(t, n, "field", ThreeContainers())
			id, err := c.RunPod(ctx, pod)
			require.NoError(t, err)

			create := func(cpu string) error {
				config := c.Container("main")
				require.NoError(t, podresources.SetContainer(config, Requests(cpu, "128Mi")))
				_, err := c.Create(ctx, id, pod, config)
				return err
			}
			rejected := create("2")
			if !s.rejected {
				require.NoError(t, rejected)
			}
			switch {
			case s.rejected:
				Promise(t, "R3", "a container that differs is rejected, and the error has the difference", OnStock(nothingCompared), func(t require.TestingT) {
					requireRejectedFor(t, rejected, differs)
				})
				Promise(t, "R3", "plugins are not asked about it", OnStock(nothingCompared), func(t require.TestingT) {
					assert.Empty(t, p.Calls().Only(plugin.CreateContainer))
				})
				again := create("500m")
				Promise(t, "R3", "a container that does not differ can be created in its place", OnStock("the first one exists"), func(t require.TestingT) {
					require.NoError(t, again)
				})
			case s.logged:
				Promise(t, "R3", "a container that differs is logged, with the difference", OnStock(nothingCompared), func(t require.TestingT) {
					assert.Contains(t, unquotedLog(t, n), differsFrom+": "+differs)
				})
			default:
				Promise(t, "R3", "a container that differs is let through and not logged", KeptOnStock, func(t require.TestingT) {
					assert.NotContains(t, unquotedLog(t, n), differsFrom+": "+differs)
				})
			}
		})
	}
}

// difference is a difference between a container and its announcement.
type difference struct {
	name   string
	change func(*runtime.ContainerConfig)
	said   string
}

// differences returns differences from the container of realThings.
func differences(t *testing.T, folder string) []difference {
	return []difference{
		{
			"a missing mount",
			func(c *runtime.ContainerConfig) { c.Mounts = nil },
			`mounts[/data]: announced host_path "` + folder + `", readonly true, propagation PROPAGATION_HOST_TO_CONTAINER, got none`,
		},
		{
			"an additional mount",
			func(c *runtime.ContainerConfig) {
				c.Mounts = append(c.Mounts, &runtime.Mount{ContainerPath: "/more", HostPath: folder})
			},
			`mounts[/more]: announced none, got host_path "` + folder + `"`,
		},
		{
			"a writable mount",
			func(c *runtime.ContainerConfig) { c.Mounts[0].Readonly = false },
			"mounts[/data].readonly: announced true, got false",
		},
		{
			"a mount of another path",
			func(c *runtime.ContainerConfig) { c.Mounts[0].HostPath = "/" },
			`mounts[/data].host_path: announced "` + folder + `", got "/"`,
		},
		{
			"a missing device",
			func(c *runtime.ContainerConfig) { c.Devices = nil },
			`devices[/dev/data]: announced host_path "/dev/zero", permissions "rw", got none`,
		},
		{
			"a device with more permissions",
			func(c *runtime.ContainerConfig) { c.Devices[0].Permissions = "rwm" },
			`devices[/dev/data].permissions: announced "rw", got "rwm"`,
		},
		{
			"a missing CDI device",
			func(c *runtime.ContainerConfig) { c.CDIDevices = nil },
			`cdi_devices[vendor.com/gpu=0]: announced "vendor.com/gpu=0", got none`,
		},
		{ // the last one: if it is let through, it replaces the announcement
			"an additional limit",
			func(c *runtime.ContainerConfig) {
				asks := Requests("500m", "128Mi")
				asks.Limits = map[string]resource.Quantity{"memory": resource.MustParse("1Gi")}
				require.NoError(t, podresources.SetContainer(c, asks))
			},
			"limits[memory]: announced none, got 1Gi",
		},
	}
}

// realThings announces a container with a mount, a device and a CDI device of the node, and returns
// a function that makes its configuration.
func realThings(t *testing.T, n *node.Node) (folder string, what podresources.Pod, as func() *runtime.ContainerConfig) {
	t.Helper()
	folder = filepath.Join(n.Folder(), "data")
	require.NoError(t, os.Mkdir(folder, 0o755))
	cdi := filepath.Join(n.Folder(), "cdi")
	require.NoError(t, os.Mkdir(cdi, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(cdi, "vendor.json"), []byte(
		`{"cdiVersion": "0.6.0", "kind": "vendor.com/gpu", "devices": [{"name": "0", "containerEdits": {"env": ["GPU=0"]}}]}`), 0o644))
	what = podresources.Pod{Containers: []podresources.Container{{
		Name: "main", Type: podresources.MainContainer, Resources: Requests("500m", "128Mi"),
		Mounts:     []podresources.Mount{{ContainerPath: "/data", HostPath: folder, ReadOnly: true, Propagation: podresources.PropagationHostToContainer}},
		Devices:    []podresources.Device{{ContainerPath: "/dev/data", HostPath: "/dev/zero", Permissions: "rw"}},
		CDIDevices: []string{"vendor.com/gpu=0"},
	}}}
	as = func() *runtime.ContainerConfig {
		config := n.CRI().Container("main")
		config.Mounts = []*runtime.Mount{{ContainerPath: "/data", HostPath: folder, Readonly: true, Propagation: runtime.MountPropagation_PROPAGATION_HOST_TO_CONTAINER}}
		config.Devices = []*runtime.Device{{ContainerPath: "/dev/data", HostPath: "/dev/zero", Permissions: "wr"}}
		config.CDIDevices = []*runtime.CDIDevice{{Name: "vendor.com/gpu=0"}}
		require.NoError(t, podresources.SetContainer(config, Requests("500m", "128Mi")))
		return config
	}
	return folder, what, as
}

// Differences are reported by field, and counted.
func TestR3_DifferencesAreReportedByField(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"warn", "enforce"} {
		t.Run(how, func(t *testing.T) {
			n := StartNode(t, comparing(how))
			ctx, c := WithinAMinute(t), n.CRI()
			folder, what, asAnnounced := realThings(t, n)
			pod := Announced(t, n, "field", what)
			id, err := c.RunPod(ctx, pod)
			require.NoError(t, err)
			_, err = c.Create(ctx, id, pod, asAnnounced())
			require.NoError(t, err)
			counted, err := n.Metrics(ctx, resourcesDiffer)
			require.NoError(t, err)
			assert.Empty(t, counted)
			assert.Zero(t, strings.Count(unquotedLog(t, n), differsFrom))

			all := differences(t, folder)
			rejected := make([]error, len(all))
			for i, d := range all {
				config := asAnnounced()
				attempt(uint32(i + 1))(config) // each attempt is a container of its own
				d.change(config)
				_, rejected[i] = c.Create(ctx, id, pod, config)
				if how == "warn" {
					require.NoError(t, rejected[i], d.name)
				}
			}
			for i, d := range all {
				Promise(t, "R3", "the error or log has "+d.name, OnStock(nothingCompared), func(t require.TestingT) {
					if how == "enforce" {
						requireRejectedFor(t, rejected[i], d.said)
						return
					}
					assert.Equal(t, 1, strings.Count(unquotedLog(t, n), differsFrom+": "+d.said+": "))
				})
			}
			Promise(t, "R3", "differences are counted by their field", OnStock(nothingCompared), func(t require.TestingT) {
				counted, err := n.Metrics(ctx, resourcesDiffer)
				require.NoError(t, err)
				assert.Equal(t, map[string]float64{
					`{field="mounts"}`: 4, `{field="devices"}`: 2, `{field="cdi_devices"}`: 1, `{field="limits"}`: 1,
				}, counted)
			})
		})
	}
}
