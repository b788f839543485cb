// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// The trace of a delivery has its pod, for all types of requests.
func TestDeliveryTraceNamesThePod(t *testing.T) {
	p := connection{&plugin{idx: "10", base: "logger"}}
	pod, failure := &PodSandbox{Id: "id", Uid: "uid"}, errors.New("no answer")
	for name, request := range map[string]any{
		"pod":           &RunPodSandboxRequest{Pod: pod},
		"container":     &StopContainerRequest{Pod: pod},
		"new container": &newContainer{request: &CreateContainerRequest{Pod: pod}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, DeliveryTrace{
				Plugin: "10-logger", Event: "StopContainer", Outcome: "timed out", Err: failure,
				Pod: "id", PodUID: "uid", Container: "c1", Waited: time.Second, Took: time.Minute, Late: true,
			}, traceOf(lifecycle.Delivery{
				Conn: p, Event: lifecycle.Event{Kind: lifecycle.StopContainer, Pod: "id", Container: "c1", Request: request},
				Outcome: lifecycle.TimedOut, Err: failure, Waited: time.Second, Took: time.Minute, Late: true,
			}))
		})
	}
	none := traceOf(lifecycle.Delivery{Conn: p, Event: lifecycle.Event{Kind: lifecycle.StopPodSandbox, Pod: "id"}})
	assert.Equal(t, "id", none.Pod)
	assert.Empty(t, none.PodUID)
}
