// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/internal/peer"
)

// namespaces knows two pods.
func namespaces(uid, container string) (string, error) {
	if namespace := map[string]string{"uid-s": "system", "uid-u": "user"}[uid]; namespace != "" && container != "other" {
		return namespace, nil
	}
	return "", errors.New("no such pod")
}

// rejections keeps the rejections that are counted.
type rejections struct {
	noopMetrics
	seen []string
}

func (r *rejections) RecordNameRejection(plugin, reason string) {
	r.seen = append(r.seen, plugin+" "+reason)
}

func TestAdmit(t *testing.T) {
	of := func(user uint32, pod string) identity {
		id := identity{peer: &peer.Peer{UID: user, PID: 7}}
		if pod != "" {
			id.pod = peer.Pod{UID: pod, Container: "c"}
		}
		return id
	}
	unknown := identity{err: peer.ErrGone}
	noPod := of(5, "")
	noPod.err = errors.New("this node runs in a pod")
	other := of(0, "uid-s")
	other.pod.Container = "other"
	for _, test := range []struct {
		name       string
		plugin     string
		id         identity
		namespaces PodNamespaces
		counted    string // empty: it may register
		because    string
	}{
		{"free", "free", of(1, "uid-u"), namespaces, "", ""},
		{"free and not known", "free", unknown, namespaces, "", ""},
		{"set, but not reserved", "set", unknown, namespaces, "", ""},
		{"its user", "user", of(5, ""), nil, "", ""},
		{"its user, in a pod", "user", of(5, "uid-x"), nil, "", ""},
		{"another user", "user", of(0, "uid-s"), namespaces, "user user", "user 0 is none of [5]"},
		{"user not known", "user", unknown, namespaces, "user unknown", "exited"},
		{"its user, pod unknown", "user", noPod, namespaces, "", ""},
		{"pod unknown", "namespace", noPod, namespaces, "namespace unknown", "this node runs in a pod"},
		{"its namespace", "namespace", of(5, "uid-s"), namespaces, "", ""},
		{"another namespace", "namespace", of(0, "uid-u"), namespaces, "namespace namespace", "namespace user is none of [system]"},
		{"no pod", "namespace", of(0, ""), namespaces, "namespace namespace", "it runs in no pod"},
		{"pod not known", "namespace", of(0, "uid-x"), namespaces, "namespace unknown", "no such pod"},
		{"container not known", "namespace", other, namespaces, "namespace unknown", "no such pod"},
		{"no pods known", "namespace", of(0, "uid-s"), nil, "namespace unknown", "the runtime does not know the namespaces of pods"},
		{"both", "both", of(5, "uid-s"), namespaces, "", ""},
		{"namespace alone", "both", of(4, "uid-s"), namespaces, "both user", "user 4 is none of [5]"},
		{"user alone", "both", of(5, "uid-u"), namespaces, "both namespace", "namespace user is none of [system]"},
		// 10-split is for user 4, and split for the namespace.
		{"both settings", "split", of(4, "uid-s"), namespaces, "", ""},
		{"setting with the index alone", "split", of(4, "uid-u"), namespaces, "split namespace", "namespace user is none of [system]"},
		{"setting without the index alone", "split", of(5, "uid-s"), namespaces, "10-split user", "user 5 is none of [4]"},
		{"another index", "indexed", of(5, "uid-u"), namespaces, "", ""},
		{"the index and name of another", "20-indexed", of(4, "uid-s"), namespaces, "20-indexed name", "index and name of another plugin"},
		{"an index and a name that no setting has", "20-other", unknown, namespaces, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			counted := &rejections{}
			r := &Adaptation{metrics: counted, namespaceOf: test.namespaces, pluginSettings: map[string]PluginSettings{
				"set":        {RequiredForPods: true},
				"user":       {AllowedUsers: []uint32{5}},
				"namespace":  {AllowedNamespaces: []string{"system"}},
				"both":       {AllowedUsers: []uint32{5}, AllowedNamespaces: []string{"system"}},
				"split":      {AllowedNamespaces: []string{"system"}},
				"10-split":   {AllowedUsers: []uint32{4}},
				"20-indexed": {AllowedUsers: []uint32{4}},
				"10-set":     {},
			}}
			err := r.admit("10", test.plugin, test.id)
			if test.counted == "" {
				require.NoError(t, err)
				require.Empty(t, counted.seen)
				return
			}
			require.ErrorContains(t, err, "is reserved, and")
			require.ErrorContains(t, err, test.because)
			require.Equal(t, []string{test.counted}, counted.seen)
		})
	}
}

// On a kernel that names processes by number, that counts as identified unless it is set otherwise.
func TestAdmitByNumber(t *testing.T) {
	r := &Adaptation{pluginSettings: map[string]PluginSettings{"user": {AllowedUsers: []uint32{5}}}}
	byNumber := identity{peer: &peer.Peer{UID: 5, PID: 7, ByNumber: true}}
	require.NoError(t, r.admit("10", "user", byNumber))

	require.NoError(t, WithoutIdentityByNumber()(r))
	require.ErrorIs(t, r.admit("10", "user", byNumber), errByNumber)
	require.NoError(t, r.admit("10", "free", byNumber))
	require.NoError(t, r.admit("10", "user", identity{peer: &peer.Peer{UID: 5, PID: 7}}))
}
