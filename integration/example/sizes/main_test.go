// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/resource"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/podresources"
)

func TestRequest(t *testing.T) {
	setup, migrate := container(podresources.InitContainer, "1500m"), container(podresources.InitContainer, "1")
	web, log := container(podresources.MainContainer, "500m"), container(podresources.MainContainer, "1")
	for name, test := range map[string]struct {
		whole      string
		containers []podresources.Container
		want       string
	}{
		"nothing":             {want: "0"},
		"main together":       {containers: []podresources.Container{web, log}, want: "1500m"},
		"init one at a time":  {containers: []podresources.Container{setup, migrate}, want: "1500m"},
		"init larger":         {containers: []podresources.Container{migrate, setup, web}, want: "1500m"},
		"main larger":         {containers: []podresources.Container{migrate, web, web, web}, want: "1500m"},
		"some ask for naught": {containers: []podresources.Container{container(podresources.InitContainer, ""), web, container(podresources.MainContainer, "")}, want: "500m"},
		"pod as a whole":      {whole: "2", containers: []podresources.Container{setup, web}, want: "2"},
	} {
		t.Run(name, func(t *testing.T) {
			got := request(&podresources.Pod{Containers: test.containers, Resources: resources(test.whole)}, "cpu")
			require.Equal(t, test.want, got.String())
		})
	}
}

// The life of a pod, and a restart of the runtime.
func TestTable(t *testing.T) {
	var out strings.Builder
	s, ctx := &sizer{out: &out}, t.Context()
	small, large := pod(t, container(podresources.MainContainer, "1")), pod(t, container(podresources.MainContainer, "2"))
	synchronize := func(pods ...*api.PodSandbox) {
		_, err := s.Synchronize(ctx, pods, nil)
		require.NoError(t, err)
	}
	said := func(want string) {
		t.Helper()
		require.Equal(t, want, out.String())
		out.Reset()
	}
	synchronize(&api.PodSandbox{Id: "1", Namespace: "default", Name: "other"})
	said("default/other is not announced\n")
	require.NoError(t, s.RunPodSandbox(ctx, small))
	said("default/web requests cpu 1, memory 0\n")
	require.NoError(t, s.PostUpdateContainer(ctx, small, nil))
	said("")
	require.NoError(t, s.PostUpdateContainer(ctx, large, nil))
	said("default/web requests cpu 2, memory 0\n")
	require.NoError(t, s.PostUpdatePodSandbox(ctx, small))
	said("default/web requests cpu 1, memory 0\n")
	synchronize(large)
	said("default/web requests cpu 2, memory 0\n")
	require.Equal(t, map[string]size{"2": {cpu: "2", memory: "0"}}, s.table)
	require.NoError(t, s.RemovePodSandbox(ctx, large))
	said("default/web is gone\n")
	require.Empty(t, s.table)
	require.NoError(t, s.RunPodSandbox(ctx, large))
	synchronize()
	require.Empty(t, s.table)
}

func container(kind podresources.ContainerType, cpu string) podresources.Container {
	return podresources.Container{Type: kind, Resources: resources(cpu)}
}

func resources(cpu string) podresources.Requirements {
	if cpu == "" {
		return podresources.Requirements{}
	}
	return podresources.Requirements{Requests: map[string]resource.Quantity{"cpu": resource.MustParse(cpu)}}
}

// pod is a pod as the runtime would send it: field 10 of CRI's config is field 1001 of NRI's pod.
func pod(t *testing.T, c podresources.Container) *api.PodSandbox {
	t.Helper()
	c.Name = "web"
	var config cri.PodSandboxConfig
	require.NoError(t, podresources.SetPod(&config, podresources.Pod{Containers: []podresources.Container{c}}))
	sent := config.ProtoReflect().GetUnknown()
	_, _, n := protowire.ConsumeTag(sent)
	pod := &api.PodSandbox{Id: "2", Namespace: "default", Name: "web"}
	pod.ProtoReflect().SetUnknown(append(protowire.AppendTag(nil, 1001, protowire.BytesType), sent[n:]...))
	return pod
}
