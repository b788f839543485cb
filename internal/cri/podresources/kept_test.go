// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func asks(cpu string) *KubernetesResources {
	return &KubernetesResources{Requests: map[string]*wrapperspb.StringValue{"cpu": wrapperspb.String(cpu)}}
}

func TestKeptAsJSON(t *testing.T) {
	type state struct {
		Resources *KubernetesResources `json:",omitempty"`
	}
	for name, kept := range map[string]state{"some": {asks("500m")}, "empty": {&KubernetesResources{}}, "none": {}} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(kept)
			require.NoError(t, err)
			var read state
			require.NoError(t, json.Unmarshal(text, &read))
			assert.True(t, proto.Equal(kept.Resources, read.Resources), "%s", text)
			assert.Equal(t, kept.Resources == nil, read.Resources == nil)
		})
	}
}

func TestWithContainer(t *testing.T) {
	before := &PodResourceConfig{Containers: []*ContainerResourceConfig{
		{Name: "web", KubernetesResources: asks("1")},
		{Name: "log", KubernetesResources: asks("2")},
	}}
	after := before.WithContainer("web", asks("3"))
	assert.Equal(t, "3", after.Container("web").GetKubernetesResources().GetRequests()["cpu"].GetValue())
	assert.Equal(t, "2", after.Container("log").GetKubernetesResources().GetRequests()["cpu"].GetValue())
	assert.Equal(t, "1", before.Container("web").GetKubernetesResources().GetRequests()["cpu"].GetValue())
	assert.Same(t, before, before.WithContainer("debug", asks("3")), "an ephemeral one is not announced")
	assert.Nil(t, (*PodResourceConfig)(nil).WithContainer("web", asks("3")))
}
