// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// since is a time, and how long ago it is.
type since struct {
	Since time.Time `json:"since"`
	For   string    `json:"for"`
}

// check holds both forms against each other.
func (s since) check(t require.TestingT, after time.Time) {
	assert.WithinRange(t, s.Since, after, time.Now())
	d, err := time.ParseDuration(s.For)
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
		LaneDepth  int `json:"laneDepth"`
		Pods       int `json:"pods"`
		Containers int `json:"containers"`
		Current    *struct {
			Event string `json:"event"`
			Pod   string `json:"pod"`
			since
		} `json:"current"`
		LastError *struct {
			Message string    `json:"message"`
			At      time.Time `json:"at"`
		} `json:"lastError"`
		since
	} `json:"plugins"`
	PodsInCreation []struct {
		ID         string `json:"id"`
		Namespace  string `json:"namespace"`
		Name       string `json:"name"`
		WaitingFor *struct {
			Plugin string `json:"plugin"`
			Behind string `json:"behind"`
			since
		} `json:"waitingFor"`
		since
	} `json:"podsInCreation"`
}

// readNRI asks for the status as "crictl info" does.
func readNRI(t require.TestingT, n *node.Node) (info nriInfo) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s, err := n.CRI().Runtime.Status(ctx, &runtime.StatusRequest{Verbose: true})
	require.NoError(t, err)
	require.Contains(t, s.GetInfo(), "nri")
	require.NoError(t, json.Unmarshal([]byte(s.GetInfo()["nri"]), &info))
	return info
}

func TestL17_StatusShowsWhatAPodWaitsFor(t *testing.T) {
	began := time.Now()
	n := startNode(t, func(o *node.Options) { o.RequestTimeout = 20 * time.Second })
	fails, holds := plugin.New("10", "fails"), plugin.New("20", "holds")
	fails.On(plugin.PostCreateContainer, plugin.Fail("no space"))
	holds.Subscribe(plugin.RunPodSandbox, plugin.StopPodSandbox)
	holds.FailurePolicy(&api.FailurePolicy{FailRequest: true})
	connect(t, n, fails, holds)
	newLife(t, n, "there")
	gate := plugin.NewGate()
	defer gate.Release()
	holds.On(plugin.RunPodSandbox, gate.Hold)
	ran := make(chan error, 2)
	run := func(name string) {
		_, err := n.CRI().RunPod(withinAMinute(t), n.CRI().Pod(name))
		ran <- err
	}
	go run("held")
	requireClosed(t, gate.Entered(), "the hook")
	held := holds.Calls().Named("held")[0].Pod.GetId()

	stockBreaks(t, "L17", "nothing shows which plugin a pod in creation waits for", func(t require.TestingT) {
		info := readNRI(t, n)
		require.True(t, info.Enabled)
		require.Len(t, info.Plugins, 2)
		first, second := info.Plugins[0], info.Plugins[1]
		assert.Equal(t, "10", first.Index)
		assert.Equal(t, "fails", first.Name)
		assert.Nil(t, first.Current)
		require.NotNil(t, first.LastError)
		assert.Contains(t, first.LastError.Message, "no space")
		assert.WithinRange(t, first.LastError.At, began, time.Now())
		assert.Equal(t, 1, first.Containers)

		assert.Equal(t, "20", second.Index)
		assert.Equal(t, "holds", second.Name)
		assert.Equal(t, os.Getpid(), second.Pid)
		assert.True(t, second.Synchronized)
		assert.Equal(t, []string{"RunPodSandbox", "StopPodSandbox"}, second.Subscriptions)
		assert.True(t, second.FailurePolicy.FailRequest)
		assert.False(t, second.FailurePolicy.KeepConnected)
		assert.Equal(t, 2, second.Pods)
		assert.Nil(t, second.LastError)
		second.check(t, began)
		require.NotNil(t, second.Current)
		assert.Equal(t, "RunPodSandbox", second.Current.Event)
		assert.Equal(t, held, second.Current.Pod)
		second.Current.check(t, second.Since)

		require.Len(t, info.PodsInCreation, 1)
		pod := info.PodsInCreation[0]
		assert.Equal(t, held, pod.ID)
		assert.Equal(t, "default", pod.Namespace)
		assert.Equal(t, "held", pod.Name)
		pod.check(t, second.Since)
		require.NotNil(t, pod.WaitingFor)
		assert.Equal(t, "20-holds", pod.WaitingFor.Plugin)
		assert.Empty(t, pod.WaitingFor.Behind)
		pod.WaitingFor.check(t, pod.Since)

		// One more has to wait until the plugin is done with the first.
		go run("behind")
		requireSoon(t, "the second pod behind the first", func(context.Context) error {
			info := readNRI(t, n)
			if len(info.PodsInCreation) < 2 || info.PodsInCreation[1].WaitingFor == nil || info.Plugins[1].LaneDepth == 0 {
				return errors.New("it waits for nobody")
			}
			pod := info.PodsInCreation[1]
			assert.Equal(t, "behind", pod.Name)
			assert.Equal(t, "20-holds", pod.WaitingFor.Plugin)
			assert.Equal(t, "RunPodSandbox of pod "+held, pod.WaitingFor.Behind)
			return nil
		})
		gate.Release()
		require.NoError(t, <-ran)
		assert.Empty(t, readNRI(t, n).Plugins[1].LastError)
	})
	gate.Release()
	require.NoError(t, <-ran)
	if !onStock {
		assert.Empty(t, readNRI(t, n).PodsInCreation)
	}
}
