// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A plugin can register under a name that is reserved for a namespace only from a pod of that
// namespace, before and after a restart of the runtime: not from another namespace, and not outside
// of pods. Any plugin may have other names.
func TestL21_ReservedNameIsTakenInPodsOfItsNamespaceAlone(t *testing.T) {
	t.Parallel()
	rule := PluginSetting("must", "allowed_namespaces = ['net-system']")
	n := StartNode(t, WithConfig(rule))
	ctx := WithinAMinute(t)
	right, wrong := cgroupsOf(ctx, t, n, "net-system"), cgroupsOf(ctx, t, n, "default")
	for _, when := range []string{"at first", "after a restart"} {
		if when == "after a restart" {
			require.NoError(t, SaysNow(t, n, rule))
		}
		for _, index := range []string{"10", "90"} {
			thief := StartProcess(t, n, plugin.Script{Index: index, Name: "must", Cgroups: wrong})
			outside := StartProcess(t, n, plugin.Script{Index: index, Name: "must"})
			Promise(t, "L21", "a thief in a pod of another namespace is rejected before Configure, as "+index+", "+when, OnStock(anybodyMay), func(t require.TestingT) {
				requireKeptOut(t, thief, "namespace default is none of [net-system]")
			})
			Promise(t, "L21", "a thief in no pod is rejected before Configure, as "+index+", "+when, OnStock(anybodyMay), func(t require.TestingT) {
				requireKeptOut(t, outside, "runs in no pod")
			})
		}
		owner := StartProcess(t, n, plugin.Script{Index: "10", Name: "must", Cgroups: right})
		free := []*plugin.Process{
			StartProcess(t, n, plugin.Script{Index: "20", Name: "free", Cgroups: wrong}),
			StartProcess(t, n, plugin.Script{Index: "30", Name: "free"}),
		}
		Promise(t, "L21", "the owner of the name registers, "+when, KeptOnStock, func(t require.TestingT) {
			RequireSoon(t, "it to join", func(context.Context) error { return HasAnswered(owner, plugin.Synchronize) })
		})
		Promise(t, "L21", "any plugin registers under another name, "+when, KeptOnStock, func(t require.TestingT) {
			for _, p := range free {
				RequireSoon(t, p.Name()+" to join", func(context.Context) error { return HasAnswered(p, plugin.Synchronize) })
			}
		})
		Promise(t, "L17", "each rejection is counted and logged, "+when, OnStock("it rejects none"), func(t require.TestingT) {
			rejections, err := n.Metrics(ctx, "containerd_nri_plugin_name_rejections_total")
			require.NoError(t, err)
			require.Len(t, rejections, 1)
			RequireSoon(t, "the log", func(context.Context) error {
				return HasLogged(n, "plugin name must is reserved", "of user 0 in pod ")
			})
		})
		for _, p := range append(free, owner) {
			require.NoError(t, p.Kill())
		}
	}
}

// A plugin of another user cannot register under a name that is reserved for a user, and can under
// any other. If user and namespace are set, both must match.
func TestL21_ReservedNameIsTakenByItsUserAlone(t *testing.T) {
	t.Parallel()
	const stranger = 64123
	n := StartNode(t, WithConfig(NoRule+anyUserMayConnect+
		"[plugins.'io.containerd.nri.v1.nri'.plugins.must]\nallowed_users = [0]\n"+
		"[plugins.'io.containerd.nri.v1.nri'.plugins.'10-both']\nallowed_users = [64123]\nallowed_namespaces = ['net-system']\n"))
	ctx := WithinAMinute(t)
	right, wrong := cgroupsOf(ctx, t, n, "net-system"), cgroupsOf(ctx, t, n, "default")
	if RunsOnStock { // it has no such setting
		require.NoError(t, os.Chmod(n.NRISocket(), 0o666))
	}
	for _, thief := range []struct {
		name, words string
		script      plugin.Script
	}{
		{"of another user", "user 64123 is none of [0]", plugin.Script{Index: "10", Name: "must", User: stranger}},
		{"of another user, in a pod", "user 64123 is none of [0]", plugin.Script{Index: "20", Name: "must", User: stranger, Cgroups: right}},
		{"of the user, in another namespace", "namespace default is none of", plugin.Script{Index: "10", Name: "both", User: stranger, Cgroups: wrong}},
		{"of the namespace, and another user", "user 0 is none of", plugin.Script{Index: "10", Name: "both", Cgroups: right}},
	} {
		p := StartProcess(t, n, thief.script)
		Promise(t, "L21", "a thief "+thief.name+" is rejected before Configure", OnStock(anybodyMay), func(t require.TestingT) {
			requireKeptOut(t, p, thief.words)
		})
		require.NoError(t, p.Kill())
	}
	for _, may := range []plugin.Script{
		{Index: "10", Name: "must"},
		{Index: "10", Name: "both", User: stranger, Cgroups: right},
		{Index: "20", Name: "both", Cgroups: wrong}, // another index is another name
		{Index: "30", Name: "free", User: stranger},
	} {
		p := StartProcess(t, n, may)
		Promise(t, "L21", "the owner of "+p.Name()+" registers", KeptOnStock, func(t require.TestingT) {
			RequireSoon(t, "it to join", func(context.Context) error { return HasAnswered(p, plugin.Synchronize) })
		})
	}
}

// If the runtime does not know a pod, it does not know the pod's namespace, whatever the cgroup's
// name is.
func TestL21_PodThatIsNotKnownGetsNoReservedName(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(PluginSetting("must", "allowed_namespaces = ['net-system']")))
	ctx := WithinAMinute(t)
	right := cgroupsOf(ctx, t, n, "net-system")
	forged := besidePod(t, right)
	thief := StartProcess(t, n, plugin.Script{Index: "10", Name: "must", Cgroups: forged})
	free := StartProcess(t, n, plugin.Script{Index: "20", Name: "free", Cgroups: forged})
	Promise(t, "L21", "the name is rejected", OnStock(anybodyMay), func(t require.TestingT) {
		requireKeptOut(t, thief, "is not known")
	})
	Promise(t, "L21", "another name is accepted", KeptOnStock, func(t require.TestingT) {
		RequireSoon(t, "it to join", func(context.Context) error { return HasAnswered(free, plugin.Synchronize) })
	})
}

// Each start makes a new socket, with the mode and the owner that are set.
func TestL21_SocketHasTheModeThatIsSet(t *testing.T) {
	t.Parallel()
	const user, group, stranger = 64123, 64124, 64125
	n := StartNode(t, WithConfig(NoRule))
	owned := fmt.Sprintf(NoRule+"[plugins.'io.containerd.nri.v1.nri']\nsocket_mode = '0660'\nsocket_uid = %d\nsocket_gid = %d\n", user, group)
	for _, step := range []struct {
		says, config string
		mode         os.FileMode
		user, group  uint32
	}{
		{says: "by default", config: NoRule, mode: 0o600},
		{says: "as set", config: NoRule + anyUserMayConnect, mode: 0o666},
		{says: "by default again", config: NoRule, mode: 0o600},
		{says: "with an owner", config: owned, mode: 0o660, user: user, group: group},
	} {
		require.NoError(t, os.Chmod(n.NRISocket(), 0o777)) // left behind by an operator
		require.NoError(t, SaysNow(t, n, step.config))
		Promise(t, "L21", "the socket's mode is "+step.mode.String()+", "+step.says, OnStock("the mode depends on the umask"), func(t require.TestingT) {
			info, err := os.Stat(n.NRISocket())
			require.NoError(t, err)
			assert.Equal(t, step.mode, info.Mode().Perm())
			owner := info.Sys().(*syscall.Stat_t)
			assert.Equal(t, []uint32{step.user, step.group}, []uint32{owner.Uid, owner.Gid})
		})
	}
	owner := StartProcess(t, n, plugin.Script{Index: "10", Name: "owner", User: user})
	other := StartProcess(t, n, plugin.Script{Index: "20", Name: "other", User: stranger})
	Promise(t, "L21", "the socket's owner may connect", OnStock("only root may"), func(t require.TestingT) {
		RequireSoon(t, "it to join", func(context.Context) error { return HasAnswered(owner, plugin.Synchronize) })
	})
	Promise(t, "L21", "another user may not", KeptOnStock, func(t require.TestingT) {
		RequireSoon(t, "an answer", func(context.Context) error {
			if len(other.KeptOut()) == 0 {
				return errors.New("it has none")
			}
			return nil
		})
		assert.Contains(t, other.KeptOut()[0], "permission denied")
	})
}
