// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// orPresent has every pod and container require a plugin. If it did not subscribe, it is enough
// that it is connected.
func orPresent(o *Options) {
	o.Required = func(context.Context, Event) ([]Requirement, error) {
		return []Requirement{{Plugin: "must", Wait: requiredWait, OrPresent: true}}, nil
	}
}

// A plugin is not connected while it is synchronized.
func TestL20_JoiningPluginIsNotPresent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, orPresent)
		other, must, next := newPlugin("10-other"), newPlugin("20-must"), newPlugin("20-must")
		must.wants, next.wants = masks["containers"], masks["containers"]
		next.untilAllowed()
		other.handle = func(context.Context, Event) (any, error) {
			must.Close()
			go f.join(next)
			other.stall(time.Second)
			return nil, nil
		}
		f.joined(other, must)
		ran := f.asking("RunPodSandbox:p1")
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		assert.Empty(t, ran, "no plugin of the name is synchronized")
		assert.False(t, f.DisconnectedSince("must").IsZero(), "it is disconnected")
	})
}

// Nor is it when its connection has closed, before the engine has noticed that.
func TestL20_ClosedConnectionIsNotPresent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, orPresent)
		must := newUnnoticed("20-must")
		must.wants = masks["containers"]
		assert.Empty(t, f.closesUnnoticed(must), "it is disconnected")
	})
}

// A plugin that becomes overdue while other plugins are asked fails the pod, like a plugin that
// is asked.
func TestL20_OverduePluginIsNotPresent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, orPresent)
		other := newPlugin("10-other")
		must, thaw := frozen("20-must", UpdateContainer)
		defer thaw()
		must.wants = masks["containers"]
		f.joined(other, must)
		f.did("RunPodSandbox:p0", "CreateContainer:p0/c0")
		other.takes(requestTimeout/2, RunPodSandbox)
		go f.ask(t.Context(), "UpdateContainer:p0/c0")
		time.Sleep(requestTimeout * 3 / 4)
		var unmet *Unmet
		require.ErrorAs(t, f.ask(t.Context(), "RunPodSandbox:p1"), &unmet)
		assert.Equal(t, "must", unmet.Plugin)
	})
}
