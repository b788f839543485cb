// SPDX-License-Identifier: Apache-2.0

package podresources

import (
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
				&runtime.Mount{ContainerPath: "/var/run/secrets/kubernetes.io/serviceaccount", HostPath: kubelet + "volumes/token", Readonly: true},
				&runtime.Mount{ContainerPath: "/etc/hosts", HostPath: kubelet + "etc-hosts"},
				&runtime.Mount{ContainerPath: "/my/last-words", HostPath: kubelet + "containers/web/0c1d2e3f"},
			)
		}},
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
			want: []string{`mounts[/dev/termination-log]: announced none, got host_path "/var/lib/kubelet/pods/4a1f/containers/log/0c1d2e3f", readonly false, propagation PROPAGATION_PRIVATE`},
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
		"more and less": {
			create: func(c *runtime.ContainerConfig) {
				c.Mounts = nil
				c.Devices = append(c.Devices, &runtime.Device{ContainerPath: "/dev/mem", HostPath: "/dev/mem", Permissions: "rwm"})
				c.CDIDevices = []*runtime.CDIDevice{{Name: "vendor.com/gpu=1"}}
			},
			want: []string{
				`mounts[/data]: announced host_path "/srv/data", readonly true, propagation PROPAGATION_PRIVATE, got none`,
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
				`requests[vendor.com/gpu]: announced none, got 0`,
				`limits[memory]: announced 1Gi, got none`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			announced := web()
			if of.announce != nil {
				of.announce(announced)
			}
			config := created(t, func(c *runtime.ContainerConfig) {
				if of.create != nil {
					of.create(c)
				}
			})
			var got []string
			for _, d := range Check(&PodResourceConfig{Containers: []*ContainerResourceConfig{{Name: "setup"}, announced}}, false, config) {
				got = append(got, d.String())
			}
			require.Equal(t, of.want, got)
		})
	}
}

func TestCheckOfNothing(t *testing.T) {
	require.Empty(t, Check(nil, false, created(t, func(*runtime.ContainerConfig) {})))
	require.Empty(t, Check(&PodResourceConfig{}, true, nil))
}

func TestCheckOfPartOfAPod(t *testing.T) {
	config := &runtime.ContainerConfig{
		Metadata:   &runtime.ContainerMetadata{Name: "web"},
		Mounts:     []*runtime.Mount{{ContainerPath: "/data", HostPath: "/pods/data"}},
		Devices:    []*runtime.Device{{ContainerPath: "/dev/fuse", HostPath: "/dev/fuse"}},
		CDIDevices: []*runtime.CDIDevice{{Name: "vendor.com/gpu=0"}},
	}
	for name, tc := range map[string]struct {
		other *ContainerResourceConfig
		want  []string
	}{
		"requests alone": {&ContainerResourceConfig{Name: "log"}, nil},
		"mounts":         {&ContainerResourceConfig{Name: "log", Mounts: []*runtime.Mount{{ContainerPath: "/logs"}}}, []string{"mounts[/data]"}},
		"devices":        {&ContainerResourceConfig{Name: "log", Devices: []*runtime.Device{{ContainerPath: "/dev/kvm"}}}, []string{"devices[/dev/fuse]"}},
		"CDI devices":    {&ContainerResourceConfig{Name: "log", CDIDevices: []*runtime.CDIDevice{{Name: "vendor.com/gpu=1"}}}, []string{"cdi_devices[vendor.com/gpu=0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			announced := &PodResourceConfig{Containers: []*ContainerResourceConfig{{Name: "web"}, tc.other}}
			var got []string
			for _, d := range Check(announced, true, config) {
				got = append(got, d.Field)
			}
			require.Equal(t, tc.want, got)
			require.Len(t, Check(announced, false, config), 3)
		})
	}
}
