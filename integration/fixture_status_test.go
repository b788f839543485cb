// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// since is a time, and how long ago it is.
type since struct {
	Since    time.Time `json:"since"`
	Duration string    `json:"duration"`
}

// requireWithin says that it began after a time, and holds both forms against each other.
func (s since) requireWithin(t require.TestingT, after time.Time) {
	assert.WithinRange(t, s.Since, after, time.Now())
	d, err := time.ParseDuration(s.Duration)
	assert.NoError(t, err)
	assert.LessOrEqual(t, d, time.Since(after)+time.Millisecond)
}

// nriInfo is the entry "nri" of a verbose status, as its readers see it.
type nriInfo struct {
	Enabled bool `json:"enabled"`
	Plugins []struct {
		Index         string   `json:"index"`
		Name          string   `json:"name"`
		Pid           int      `json:"pid"`
		Synchronized  bool     `json:"synchronized"`
		Subscriptions []string `json:"subscriptions"`
		FailurePolicy struct {
			FailRequest   bool `json:"failRequest"`
			KeepConnected bool `json:"keepConnected"`
		} `json:"failurePolicy"`
		QueueLength  int `json:"queueLength"`
		Pods         int `json:"pods"`
		Containers   int `json:"containers"`
		CurrentEvent *struct {
			Event string `json:"event"`
			Pod   string `json:"pod"`
			since
		} `json:"currentEvent"`
		LastError *struct {
			Message string    `json:"message"`
			At      time.Time `json:"at"`
		} `json:"lastError"`
		since
	} `json:"plugins"`
	RequiredPlugins []struct {
		Name        string   `json:"name"`
		RequiredFor []string `json:"requiredFor"`
		Away        *since   `json:"away"`
		NetworkGate *struct {
			Closed bool   `json:"closed"`
			Grace  string `json:"grace"`
		} `json:"networkGate"`
	} `json:"requiredPlugins"`
	PodsBeingCreated []struct {
		ID         string `json:"id"`
		Namespace  string `json:"namespace"`
		Name       string `json:"name"`
		WaitingFor *struct {
			Plugin string `json:"plugin"`
			Behind string `json:"behind"`
			Away   bool   `json:"away"`
			since
		} `json:"waitingFor"`
		since
	} `json:"podsBeingCreated"`
}

// requireWaiting waits until so many events wait for a plugin that is at another
// one: they are not sent before that was answered (L4).
func requireWaiting(t require.TestingT, n target, p told, events int) {
	requireSoon(t, "events that wait for "+p.Name(), func(context.Context) error {
		waiting := 0
		for _, shown := range readNRI(t, n).Plugins {
			if shown.Index+"-"+shown.Name == p.Name() {
				waiting = shown.QueueLength
			}
		}
		if waiting < events {
			return fmt.Errorf("%d of %d wait", waiting, events)
		}
		return nil
	})
}

// readNRI asks for the status as "crictl info" does.
func readNRI(t require.TestingT, n target) (info nriInfo) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s, err := n.CRI().Runtime.Status(ctx, &runtime.StatusRequest{Verbose: true})
	require.NoError(t, err)
	require.Contains(t, s.GetInfo(), "nri")
	require.NoError(t, json.Unmarshal([]byte(s.GetInfo()["nri"]), &info))
	return info
}
