// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// registered registers a plugin. It returns the plugin, and the error that the plugin receives.
func registered(t *testing.T, req *RegisterPluginRequest, cmd *exec.Cmd) (p *plugin, err error) {
	t.Helper()
	p = &plugin{regC: make(chan error, 1), r: &Adaptation{}, impl: &pluginType{}, cmd: cmd}
	_, err = p.RegisterPlugin(context.Background(), req)
	require.Equal(t, err == nil, <-p.regC == nil, "the runtime receives another result")
	return p, err
}

// The data of a registration is bounded, and is rejected before it is kept.
func TestRegistrationIsBounded(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	for name, req := range map[string]*RegisterPluginRequest{
		"no name":                           {PluginIdx: "10"},
		"name of 65 bytes":                  {PluginIdx: "10", PluginName: strings.Repeat("x", 65)},
		"name of 2 MiB":                     {PluginIdx: "10", PluginName: long},
		"name of 2 MiB that is not valid":   {PluginIdx: "10", PluginName: "\n" + long},
		"name with a newline":               {PluginIdx: "10", PluginName: "logger\nlevel=error"},
		"name with a slash":                 {PluginIdx: "10", PluginName: "../logger"},
		"name that is no UTF-8":             {PluginIdx: "10", PluginName: "logger\xff"},
		"name with letters of all scripts":  {PluginIdx: "10", PluginName: "löffel"},
		"no index":                          {PluginName: "logger"},
		"index of one digit":                {PluginIdx: "1", PluginName: "logger"},
		"index of letters":                  {PluginIdx: "ab", PluginName: "logger"},
		"index of 2 MiB":                    {PluginIdx: long, PluginName: "logger"},
		"NRI version of 2 MiB":              {PluginIdx: "10", PluginName: "logger", NRIVersion: long},
		"NRI version with a newline":        {PluginIdx: "10", PluginName: "logger", NRIVersion: "v0.12.5\nlevel=error"},
		"NRI version with a control":        {PluginIdx: "10", PluginName: "logger", NRIVersion: "\x1b[2Jv0.12.5"},
		"NRI version that is no UTF-8":      {PluginIdx: "10", PluginName: "logger", NRIVersion: "v\xc3\x28"},
		"name and version of many controls": {PluginIdx: "10", PluginName: "\x00" + strings.Repeat("\U0010ffff", 15), NRIVersion: strings.Repeat("\x00", 1000)},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := registered(t, req, nil)
			require.Equal(t, codes.InvalidArgument, status.Code(err), "%.200v", err)
			require.Less(t, len(err.Error()), 400)
			require.Empty(t, p.base)
			require.Empty(t, p.idx)
		})
	}
}

// Plugins of today can register.
func TestRegistrationsOfToday(t *testing.T) {
	for _, req := range []*RegisterPluginRequest{
		{PluginIdx: "00", PluginName: "logger"},
		{PluginIdx: "99", PluginName: "abcd-0123+EFGH_4567.ijkl"},
		{PluginIdx: "10", PluginName: strings.Repeat("d", 63)}, // of a DRA driver
		{PluginIdx: "10", PluginName: strings.Repeat("d", 64)},
		{PluginIdx: "10", PluginName: "logger", NRIVersion: "(devel)"},
		{PluginIdx: "10", PluginName: "logger", NRIVersion: "v0.12.6-0.20260101120000-0123456789ab+incompatible"},
	} {
		p, err := registered(t, req, nil)
		require.NoError(t, err)
		require.Equal(t, req.PluginName, p.base)
		require.Equal(t, req.PluginIdx, p.idx)
	}
	_, err := registered(t, &RegisterPluginRequest{PluginName: strings.Repeat("x", 255)}, &exec.Cmd{})
	require.NoError(t, err, "a plugin that was launched has the name of its file")
}

// Unknown fields of a policy are not kept.
func TestPolicyIsBounded(t *testing.T) {
	require.Nil(t, knownPolicy(nil))
	sent := &FailurePolicy{KeepConnected: true}
	sent.ProtoReflect().SetUnknown(make([]byte, 1<<20))
	require.True(t, proto.Equal(&FailurePolicy{KeepConnected: true}, knownPolicy(sent)))
	require.True(t, knownPolicy(&FailurePolicy{FailRequest: true}).FailRequest)
}
