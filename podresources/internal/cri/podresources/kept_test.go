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

// Resources that another version wrote do not break the state beside them.
func TestKeptByAnotherVersion(t *testing.T) {
	for _, text := range []string{`{"requests": {"cpu": "1"}, "shares": 2}`, `{"requests": [1]}`, `{"requests": {"cpu": "-1"}}`, `7`} {
		var read struct {
			Resources *KubernetesResources
			Beside    int
		}
		require.NoError(t, json.Unmarshal([]byte(`{"Resources": `+text+`, "Beside": 7}`), &read))
		assert.Equal(t, 7, read.Beside)
	}
}
