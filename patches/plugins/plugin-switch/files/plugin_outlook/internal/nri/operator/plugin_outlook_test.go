// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type oneOutlook struct{}

func (oneOutlook) Plugins() ([]Plugin, error) {
	return []Plugin{{Name: "10-one", State: "off", Since: time.Unix(1, 0).UTC(), Events: 3}}, nil
}

func (oneOutlook) OutlookOfPlugin(_ context.Context, name string) (Outlook, error) {
	return Outlook{Plugin: Plugin{Name: name}, Pods: 2, Missed: 1, Oldest: []MissedEvent{{Event: "StopPodSandbox", Pod: "p"}}}, nil
}

func TestOutlookRequests(t *testing.T) {
	conn := serving(t, knows{Outlooks: oneOutlook{}})
	all, err := Plugins(t.Context(), conn)
	require.NoError(t, err)
	want, _ := oneOutlook{}.Plugins()
	require.Equal(t, want, all)
	o, err := OutlookOf(t.Context(), conn, "10-one")
	require.NoError(t, err)
	require.Equal(t, "10-one", o.Plugin.Name)
	require.Equal(t, []MissedEvent{{Event: "StopPodSandbox", Pod: "p"}}, o.Oldest)
}
