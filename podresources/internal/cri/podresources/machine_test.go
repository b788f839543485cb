// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pod's author cannot request more than the machine has, in any part of the pod.
func TestR4_AnnotationFitsTheMachine(t *testing.T) {
	machine := Machine{CPUs: 4, Memory: 8 << 30}
	number := 0
	one := func(kind, requests string) string {
		number++
		return `{"name": "c` + strconv.Itoa(number) + `", "type": "` + kind + `", "kubernetesResources": {"requests": {` + requests + `}}}`
	}
	for name, tc := range map[string]struct {
		text, fails string
	}{
		"just fits":          {`{"containers": [` + one("CONTAINER", `"cpu": "3"`) + `, ` + one("CONTAINER", `"cpu": "1000m", "memory": "8Gi"`) + `, ` + one("INIT_CONTAINER", `"cpu": "4"`) + `]}`, ""},
		"together":           {`{"containers": [` + one("CONTAINER", `"cpu": "3"`) + `, ` + one("CONTAINER", `"cpu": "1001m"`) + `]}`, `annotation hookline.dev/pod-resources: it requests 4001m of "cpu", and the machine has 4`},
		"an init container":  {`{"containers": [` + one("INIT_CONTAINER", `"memory": "9Gi"`) + `]}`, `it requests 9Gi of "memory", and the machine has 8Gi`},
		"as a whole":         {`{"kubernetesResources": {"requests": {"cpu": "5"}}}`, `it requests 5 of "cpu"`},
		"limits":             {`{"kubernetesResources": {"limits": {"cpu": "5"}}}`, ""},
		"another resource":   {`{"kubernetesResources": {"requests": {"vendor.com/gpu": "1000"}}}`, ""},
		"nothing is asked":   {`{}`, ""},
		"many, all too much": {`{"containers": [` + one("CONTAINER", `"cpu": "1e17"`) + `]}`, `it requests 100e15 of "cpu"`},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := FromAnnotation(tc.text)
			require.NoError(t, err)
			a, err := NewAnnouncement(config, FromPod)
			require.NoError(t, err)
			require.NoError(t, a.Fits(Machine{}), "nothing is known of the machine")
			if err := a.Fits(machine); tc.fails == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.fails)
			}
			trusted, err := NewAnnouncement(config, Field)
			require.NoError(t, err)
			require.NoError(t, trusted.Fits(machine), "the client is trusted")
		})
	}
	var none *Announcement
	require.NoError(t, none.Fits(machine))
}
