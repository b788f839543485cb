// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/wrapperspb"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func created(t *testing.T, change func(*runtime.ContainerConfig)) *runtime.ContainerConfig {
	t.Helper()
	as := web()
	c := &runtime.ContainerConfig{
		Metadata:   &runtime.ContainerMetadata{Name: "web"},
		Mounts:     as.GetMounts(),
		Devices:    as.GetDevices(),
		CDIDevices: as.GetCDIDevices(),
	}
	require.NoError(t, SetContainer(c, as.GetKubernetesResources()))
	change(c)
	return c
}

func TestCheck(t *testing.T) {
	const kubelet = "/var/lib/kubelet/pods/4a1f/"
	pod := &runtime.PodSandboxMetadata{Name: "shop", Uid: "4a1f"}
	setResources := func(c *runtime.ContainerConfig, r *KubernetesResources) { require.NoError(t, SetContainer(c, r)) }
	for name, of := range map[string]struct {
		announce func(*ContainerResourceConfig)
		create   func(*runtime.ContainerConfig)
		want     []string
	}{
		"as announced": {},
		"not announced, as an ephemeral one": {create: func(c *runtime.ContainerConfig) {
			c.Metadata.Name, c.Mounts, c.Devices = "debugger", nil, nil
		}},
		"no resources in the request": {create: func(c *runtime.ContainerConfig) { setResources(c, nil) }},
		"resources that cannot be read": {create: func(c *runtime.ContainerConfig) {
			c.ProtoReflect().SetUnknown(num(1018, 1))
		}},
		"in another order": {
			announce: func(c *ContainerResourceConfig) {
				c.Mounts = append(c.Mounts, &runtime.Mount{ContainerPath: "/b", HostPath: "/b"}, &runtime.Mount{ContainerPath: "/b", HostPath: "/c"})
				c.CDIDevices = append(c.CDIDevices, &runtime.CDIDevice{Name: "vendor.com/gpu=1"})
			},
			create: func(c *runtime.ContainerConfig) {
				c.Mounts = append([]*runtime.Mount{{ContainerPath: "/b", HostPath: "/c"}, {ContainerPath: "/b", HostPath: "/b"}}, c.Mounts...)
				c.CDIDevices = append([]*runtime.CDIDevice{{Name: "vendor.com/gpu=1"}}, c.CDIDevices...)
			},
		},
		"equal quantities": {create: func(c *runtime.ContainerConfig) {
			setResources(c, &KubernetesResources{
				Requests: map[string]*wrapperspb.StringValue{"cpu": wrapperspb.String("0.5")},
				Limits:   map[string]*wrapperspb.StringValue{"memory": wrapperspb.String("1073741824")},
			})
		}},
		"the kubelet's own mounts": {create: func(c *runtime.ContainerConfig) {
			c.Mounts = append(c.Mounts,
				&runtime.Mount{ContainerPath: "/var/run/secrets/kubernetes.io/serviceaccount", HostPath: kubelet + "volumes/kubernetes.io~projected/kube-api-access-x", Readonly: true},
				&runtime.Mount{ContainerPath: "/etc/hosts", HostPath: kubelet + "etc-hosts"},
				&runtime.Mount{ContainerPath: "/my/last-words", HostPath: kubelet + "containers/web/0c1d2e3f"},
			)
		}},
		"the kubelet's own mounts on Windows": {create: func(c *runtime.ContainerConfig) {
			const kubelet = `c:\var\lib\kubelet\pods\4a1f\`
			c.Mounts = append(c.Mounts,
				&runtime.Mount{ContainerPath: `c:\var\run\secrets\kubernetes.io\serviceaccount`, HostPath: kubelet + `volumes\kubernetes.io~projected\kube-api-access-x`},
				&runtime.Mount{ContainerPath: `C:\Windows\System32\drivers\etc\hosts`, HostPath: kubelet + "etc-hosts"},
				&runtime.Mount{ContainerPath: `C:\last-words`, HostPath: kubelet + `containers\web\0c1d2e3f`},
			)
		}},
		"mounts at the kubelet's places": {
			create: func(c *runtime.ContainerConfig) {
				c.Mounts = append(c.Mounts,
					&runtime.Mount{ContainerPath: "/etc/hosts", HostPath: "/"},
					&runtime.Mount{ContainerPath: "/var/run/secrets/kubernetes.io/serviceaccount", HostPath: "/var/lib/kubelet/pods/another/volumes/token"},
					&runtime.Mount{ContainerPath: "/a", HostPath: "/srv/pods/x/containers/web/cafe"},
					&runtime.Mount{ContainerPath: "/b", HostPath: kubelet + "volumes/../../../etc"},
					&runtime.Mount{ContainerPath: "/c", HostPath: kubelet + "containers/web/cafe/x"},
				)
			},
			want: []string{
				`mounts[/etc/hosts]: announced none, got host_path "/"`,
				`mounts[/var/run/secrets/kubernetes.io/serviceaccount]: announced none, got host_path "/var/lib/kubelet/pods/another/volumes/token"`,
				`mounts[/a]: announced none, got host_path "/srv/pods/x/containers/web/cafe"`,
				`mounts[/b]: announced none, got host_path "/var/lib/kubelet/pods/4a1f/volumes/../../../etc"`,
				`mounts[/c]: announced none, got host_path "/var/lib/kubelet/pods/4a1f/containers/web/cafe/x"`,
			},
		},
		"a termination log that was announced": {
			announce: func(c *ContainerResourceConfig) {
				c.Mounts = append(c.Mounts, &runtime.Mount{ContainerPath: "/dev/termination-log", HostPath: kubelet + "containers/web/ffffffff"})
			},
			create: func(c *runtime.ContainerConfig) {
				c.Mounts = append(c.Mounts, &runtime.Mount{ContainerPath: "/dev/termination-log", HostPath: kubelet + "containers/web/0c1d2e3f"})
			},
		},
		"a termination log of another container": {
			create: func(c *runtime.ContainerConfig) {
				c.Mounts = append(c.Mounts, &runtime.Mount{ContainerPath: "/dev/termination-log", HostPath: kubelet + "containers/log/0c1d2e3f"})
			},
			want: []string{`mounts[/dev/termination-log]: announced none, got host_path "/var/lib/kubelet/pods/4a1f/containers/log/0c1d2e3f"`},
		},
		"a hosts file that was announced": {
			announce: func(c *ContainerResourceConfig) {
				c.Mounts = append(c.Mounts, &runtime.Mount{ContainerPath: "/etc/hosts", HostPath: kubelet + "etc-hosts"})
			},
			create: func(c *runtime.ContainerConfig) {
				c.Mounts = append(c.Mounts, &runtime.Mount{ContainerPath: "/etc/hosts", HostPath: "/etc/hosts"})
			},
			want: []string{`mounts[/etc/hosts].host_path: announced "/var/lib/kubelet/pods/4a1f/etc-hosts", got "/etc/hosts"`},
		},
		"a mount that differs": {
			create: func(c *runtime.ContainerConfig) {
				c.Mounts = []*runtime.Mount{{ContainerPath: "/data", HostPath: "/", Propagation: runtime.MountPropagation_PROPAGATION_BIDIRECTIONAL}}
			},
			want: []string{
				`mounts[/data].host_path: announced "/srv/data", got "/"`,
				`mounts[/data].readonly: announced true, got false`,
				`mounts[/data].propagation: announced PROPAGATION_PRIVATE, got PROPAGATION_BIDIRECTIONAL`,
			},
		},
		"all of a mount": {
			announce: func(c *ContainerResourceConfig) {
				c.Mounts = []*runtime.Mount{{
					ContainerPath: "/data", Readonly: true, RecursiveReadOnly: true, SelinuxRelabel: true, ImageSubPath: "a",
					Image:       &runtime.ImageSpec{Image: "example.com/models:1"},
					UidMappings: []*runtime.IDMapping{{HostId: 1000, Length: 1}},
				}}
			},
			create: func(c *runtime.ContainerConfig) {
				c.Mounts = []*runtime.Mount{{
					ContainerPath: "/data", Readonly: true,
					Image:       &runtime.ImageSpec{Image: "sha256:17", UserSpecifiedImage: "example.com/models:2"},
					GidMappings: []*runtime.IDMapping{{HostId: 1000, Length: 1}},
				}}
			},
			want: []string{
				`mounts[/data].selinux_relabel: announced true, got false`,
				`mounts[/data].uidMappings: announced {"hostId":1000,"length":1}, got none`,
				`mounts[/data].gidMappings: announced none, got {"hostId":1000,"length":1}`,
				`mounts[/data].recursive_read_only: announced true, got false`,
				`mounts[/data].image: announced {"image":"example.com/models:1"}, got {"image":"example.com/models:2"}`,
				`mounts[/data].image_sub_path: announced "a", got ""`,
			},
		},
		"an image that was resolved": {
			announce: func(c *ContainerResourceConfig) {
				c.Mounts = []*runtime.Mount{{ContainerPath: "/data", Image: &runtime.ImageSpec{Image: "example.com/models:1"}}}
			},
			create: func(c *runtime.ContainerConfig) {
				c.Mounts = []*runtime.Mount{{ContainerPath: "/data", Image: &runtime.ImageSpec{Image: "sha256:17", UserSpecifiedImage: "example.com/models:1"}}}
			},
		},
		"permissions in another order": {
			announce: func(c *ContainerResourceConfig) { c.Devices[0].Permissions = "rwm" },
			create: func(c *runtime.ContainerConfig) {
				c.Devices = []*runtime.Device{{ContainerPath: "/dev/null", HostPath: "/dev/zero", Permissions: "mrw"}}
			},
		},
		"paths that are no line": {
			create: func(c *runtime.ContainerConfig) {
				c.Mounts = append(c.Mounts, &runtime.Mount{ContainerPath: "/a\nb", HostPath: "/" + strings.Repeat("x", 1000)})
			},
			want: []string{`mounts["/a\nb"]: announced none, got host_path "/` + strings.Repeat("x", 188) + "..."},
		},
		"more and less": {
			create: func(c *runtime.ContainerConfig) {
				c.Mounts = nil
				c.Devices = append(c.Devices, &runtime.Device{ContainerPath: "/dev/mem", HostPath: "/dev/mem", Permissions: "rwm"})
				c.CDIDevices = []*runtime.CDIDevice{{Name: "vendor.com/gpu=1"}}
			},
			want: []string{
				`mounts[/data]: announced host_path "/srv/data", readonly true, got none`,
				`devices[/dev/mem]: announced none, got host_path "/dev/mem", permissions "rwm"`,
				`cdi_devices[vendor.com/gpu=0]: announced "vendor.com/gpu=0", got none`,
				`cdi_devices[vendor.com/gpu=1]: announced none, got "vendor.com/gpu=1"`,
			},
		},
		"a device that differs": {
			create: func(c *runtime.ContainerConfig) {
				c.Devices = []*runtime.Device{{ContainerPath: "/dev/null", HostPath: "/dev/zero", Permissions: "r"}}
			},
			want: []string{`devices[/dev/null].permissions: announced "rw", got "r"`},
		},
		"the same twice": {
			create: func(c *runtime.ContainerConfig) { c.CDIDevices = append(c.CDIDevices, c.CDIDevices...) },
			want:   []string{`cdi_devices[vendor.com/gpu=0]: announced none, got "vendor.com/gpu=0"`},
		},
		"resources that differ": {
			create: func(c *runtime.ContainerConfig) {
				setResources(c, &KubernetesResources{Requests: map[string]*wrapperspb.StringValue{"cpu": wrapperspb.String("501m"), "vendor.com/gpu": wrapperspb.String("0")}})
			},
			want: []string{
				`requests[cpu]: announced 500m, got 501m`,
				`limits[memory]: announced 1Gi, got none`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := web()
			if of.announce != nil {
				of.announce(want)
			}
			config := created(t, func(c *runtime.ContainerConfig) {
				if of.create != nil {
					of.create(c)
				}
			})
			var got []string
			for _, d := range Check(announced(t, Field, &ContainerResourceConfig{Name: "setup"}, want), pod, config) {
				got = append(got, d.String())
			}
			require.Equal(t, of.want, got)
		})
	}
}

func TestCheckOfNothing(t *testing.T) {
	require.Empty(t, Check(nil, nil, created(t, func(*runtime.ContainerConfig) {})))
	require.Empty(t, Check(announced(t, FromPod), nil, nil))
}

func TestCheckOfPartOfAPod(t *testing.T) {
	config := &runtime.ContainerConfig{
		Metadata:   &runtime.ContainerMetadata{Name: "web"},
		Mounts:     []*runtime.Mount{{ContainerPath: "/data", HostPath: "/pods/data"}},
		Devices:    []*runtime.Device{{ContainerPath: "/dev/fuse", HostPath: "/dev/fuse"}},
		CDIDevices: []*runtime.CDIDevice{{Name: "vendor.com/gpu=0"}},
	}
	require.NoError(t, SetContainer(config, requests("cpu", "1")))
	for name, tc := range map[string]struct {
		other *ContainerResourceConfig
		want  []string
	}{
		"nothing":     {&ContainerResourceConfig{Name: "log"}, nil},
		"mounts":      {&ContainerResourceConfig{Name: "log", Mounts: []*runtime.Mount{{ContainerPath: "/logs"}}}, []string{"mounts[/data]"}},
		"devices":     {&ContainerResourceConfig{Name: "log", Devices: []*runtime.Device{{ContainerPath: "/dev/kvm"}}}, []string{"devices[/dev/fuse]"}},
		"CDI devices": {&ContainerResourceConfig{Name: "log", CDIDevices: []*runtime.CDIDevice{{Name: "vendor.com/gpu=1"}}}, []string{"cdi_devices[vendor.com/gpu=0]"}},
		"requests":    {&ContainerResourceConfig{Name: "log", KubernetesResources: requests("cpu", "1")}, []string{"requests[cpu]"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range Check(announced(t, FromPod, &ContainerResourceConfig{Name: "web"}, tc.other), nil, config) {
				got = append(got, d.Field)
			}
			require.Equal(t, tc.want, got)
			require.Len(t, Check(announced(t, Field, &ContainerResourceConfig{Name: "web"}, tc.other), nil, config), 4)
		})
	}
}

// The differences fit into a log, however many there may be.
func TestSentenceIsBounded(t *testing.T) {
	long := strings.Repeat("x", 10000)
	var all []Difference
	for range 1000 {
		all = append(all, Difference{at("mounts", long), long, long})
	}
	require.Less(t, len(Sentence(all)), 10000)
	require.True(t, strings.HasSuffix(Sentence(all), "; and 990 more"))
	require.Equal(t, "a: announced 1, got 2; b: announced 3, got none", Sentence([]Difference{{"a", "1", "2"}, {"b", "3", none}}))
}
