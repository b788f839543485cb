// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func number(n protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), value)
}

// sent returns a message as its receiver gets it.
func sent[M proto.Message](t *testing.T, m M) M {
	t.Helper()
	wire, err := proto.Marshal(m)
	require.NoError(t, err)
	got := m.ProtoReflect().New().Interface().(M)
	require.NoError(t, proto.Unmarshal(wire, got))
	return got
}

func example() *Network {
	return &Network{
		Interfaces: []*Interface{
			{Name: "eth0", Addresses: []string{"10.0.0.7/24", "fd00::7/64"}, Mac: "02:00:00:00:00:07"},
			{Name: "rdma0"},
		},
		Routes: []*Route{{Destination: "0.0.0.0/0", Gateway: "10.0.0.1"}, {Destination: "fd01::/64"}},
		Dns:    &DNS{Servers: []string{"10.0.0.2"}, Domain: "shop", Searches: []string{"a.shop"}, Options: []string{"ndots:5"}},
	}
}

// Each field travels with its message. Nothing else of the message changes, and a value that is set again
// replaces the one before.
func TestFieldsTravel(t *testing.T) {
	pod := &api.PodSandbox{Id: "pod0"}
	pod.ProtoReflect().SetUnknown(number(1000, 2))
	require.Empty(t, Plugin(pod))
	require.NoError(t, SetPlugin(pod, "other"))
	require.NoError(t, SetPlugin(pod, "10-net"))
	got := sent(t, pod)
	require.Equal(t, "10-net", Plugin(got))
	require.Equal(t, "pod0", got.GetId())
	require.True(t, GivenBy(got, "10", "net"))
	require.False(t, GivenBy(got, "20", "net"))
	require.NoError(t, SetPlugin(got, "net"))
	require.True(t, GivenBy(got, "10", "net"))
	require.False(t, GivenBy(got, "10", "other"))
	require.NoError(t, SetPlugin(got, ""))
	require.False(t, GivenBy(got, "10", ""))
	require.Equal(t, number(1000, 2), []byte(got.ProtoReflect().GetUnknown()))

	reply := &api.RunPodSandboxResponse{}
	network, err := Given(reply)
	require.NoError(t, err)
	require.Nil(t, network)
	require.NoError(t, Give(reply, &Network{Interfaces: []*Interface{{Name: "old"}}}))
	require.NoError(t, Give(reply, example()))
	network, err = Given(sent(t, reply))
	require.NoError(t, err)
	require.True(t, proto.Equal(example(), network), network)

	for _, message := range []proto.Message{&api.SynchronizeResponse{}, &api.UpdateContainersRequest{}} {
		status, err := Reported(message)
		require.NoError(t, err)
		require.Nil(t, status)
		require.NoError(t, Report(message, &Status{Code: NotAvailable, Message: "no uplink"}))
		status, err = Reported(sent(t, message))
		require.NoError(t, err)
		require.True(t, proto.Equal(&Status{Code: 50, Message: "no uplink"}, status), status)
		require.NoError(t, Report(message, nil))
		require.Empty(t, message.ProtoReflect().GetUnknown())
	}
}

// A status travels with a request that is encoded already, as with any other.
func TestAppendStatus(t *testing.T) {
	request, err := proto.Marshal(&api.UpdateContainersRequest{Update: []*api.ContainerUpdate{{ContainerId: "c"}}})
	require.NoError(t, err)
	request, err = AppendStatus(request, &Status{Code: NotAvailable})
	require.NoError(t, err)
	var got api.UpdateContainersRequest
	require.NoError(t, proto.Unmarshal(request, &got))
	require.Equal(t, "c", got.GetUpdate()[0].GetContainerId())
	status, err := Reported(&got)
	require.NoError(t, err)
	require.Equal(t, NotAvailable, status.GetCode())
	_, err = AppendStatus(nil, &Status{Message: "\xff"})
	require.Error(t, err)
}

// The numbers are those of the contract: other implementations use them, too.
func TestNumbersOfTheFields(t *testing.T) {
	pod, reply, word := &api.PodSandbox{}, &api.RunPodSandboxResponse{}, &api.SynchronizeResponse{}
	require.NoError(t, SetPlugin(pod, "a"))
	require.NoError(t, Give(reply, &Network{}))
	require.NoError(t, Report(word, &Status{}))
	for want, m := range map[protowire.Number]proto.Message{1002: pod, 1000: reply} {
		got, kind, _ := protowire.ConsumeTag(m.ProtoReflect().GetUnknown())
		require.Equal(t, want, got)
		require.Equal(t, protowire.BytesType, kind)
	}
	got, _, _ := protowire.ConsumeTag(word.ProtoReflect().GetUnknown())
	require.Equal(t, protowire.Number(1000), got)
}

// What others put into the fields is an error, and never more than that.
func TestOtherContent(t *testing.T) {
	for name, unknown := range map[string][]byte{
		"another message": protowire.AppendString(protowire.AppendTag(nil, 1000, protowire.BytesType), "\xff"),
		"cut off":         protowire.AppendTag(nil, 1000, protowire.BytesType),
		"not even that":   {0xff},
	} {
		t.Run(name, func(t *testing.T) {
			reply := &api.RunPodSandboxResponse{}
			reply.ProtoReflect().SetUnknown(unknown)
			_, err := Given(reply)
			require.ErrorContains(t, err, "provisional fields of RunPodSandboxResponse")
			_, err = Reported(reply)
			require.ErrorContains(t, err, "provisional fields of RunPodSandboxResponse")
			pod := &api.PodSandbox{}
			pod.ProtoReflect().SetUnknown(unknown)
			require.Empty(t, Plugin(pod))
		})
	}
	require.ErrorContains(t, SetPlugin(&api.PodSandbox{}, "\xff"), "invalid UTF-8")
	require.Error(t, Give(&api.RunPodSandboxResponse{}, &Network{Interfaces: []*Interface{{Name: "\xff"}}}))
	require.Error(t, Report(&api.SynchronizeResponse{}, &Status{Message: "\xff"}))
}

func TestCheck(t *testing.T) {
	require.NoError(t, example().Check())
	for want, wrong := range map[string]func(*Network){
		"no address":                              func(n *Network) { n.Interfaces = nil },
		"no  address":                             func(n *Network) { n.Interfaces[0], n.Interfaces[1] = n.Interfaces[1], n.Interfaces[0] },
		"33 interfaces":                           func(n *Network) { n.Interfaces = append(n.Interfaces, make([]*Interface, 31)...) },
		"257 routes":                              func(n *Network) { n.Routes = make([]*Route, 257) },
		`"eth0" exists twice`:                     func(n *Network) { n.Interfaces[1].Name = "eth0" },
		`"fd00::7" exists twice`:                  func(n *Network) { n.Interfaces[1].Addresses = []string{"fd00:0::7/48"} },
		`interface "lo": no name`:                 func(n *Network) { n.Interfaces[1].Name = "lo" },
		`interface "a\x1b": no name`:              func(n *Network) { n.Interfaces[1].Name = "a\x1b" },
		`"10.0.0.7/0" is no address`:              func(n *Network) { n.Interfaces[0].Addresses[0] = "10.0.0.7/0" },
		`"fe80::7/64" is no address`:              func(n *Network) { n.Interfaces[0].Addresses[0] = "fe80::7/64" },
		`"255.255.255.255/32" is no address`:      func(n *Network) { n.Interfaces[0].Addresses[0] = "255.255.255.255/32" },
		`route to "10.1.2.3/8": no network`:       func(n *Network) { n.Routes[0].Destination = "10.1.2.3/8" },
		`gateway "10.0.0.1" is no address of`:     func(n *Network) { n.Routes[0].Destination = "::/0" },
		`DNS: server "dns" is no address`:         func(n *Network) { n.Dns.Servers[0] = "dns" },
		`interface "": no name`:                   func(n *Network) { n.Interfaces[1].Name = "" },
		`interface "..": no name`:                 func(n *Network) { n.Interfaces[1].Name = ".." },
		`interface ".": no name`:                  func(n *Network) { n.Interfaces[1].Name = "." },
		`interface "a/b": no name`:                func(n *Network) { n.Interfaces[1].Name = "a/b" },
		`interface "a b": no name`:                func(n *Network) { n.Interfaces[1].Name = "a b" },
		`interface "aaaaaaaaaaaaaaaa": no name`:   func(n *Network) { n.Interfaces[1].Name = strings.Repeat("a", 16) },
		`interface "eth0": MAC "x" is none`:       func(n *Network) { n.Interfaces[0].Mac = "x" },
		`interface "rdma0": 65 addresses`:         func(n *Network) { n.Interfaces[1].Addresses = make([]string, 65) },
		`interface "rdma0": "10.0.0.8" is no`:     func(n *Network) { n.Interfaces[1].Addresses = []string{"10.0.0.8"} },
		`"0.0.0.0/0" is no address`:               func(n *Network) { n.Interfaces[0].Addresses[0] = "0.0.0.0/0" },
		`"127.0.0.1/8" is no address`:             func(n *Network) { n.Interfaces[0].Addresses[0] = "127.0.0.1/8" },
		`"ff02::1/64" is no address`:              func(n *Network) { n.Interfaces[0].Addresses[0] = "ff02::1/64" },
		`"::ffff:10.0.0.1/96" is no address`:      func(n *Network) { n.Interfaces[0].Addresses[0] = "::ffff:10.0.0.1/96" },
		`route to "default": no network`:          func(n *Network) { n.Routes[0].Destination = "default" },
		`route to "0.0.0.0/0": gateway "x" is no`: func(n *Network) { n.Routes[0].Gateway = "x" },
		`gateway "fe80::1%eth0" is no`:            func(n *Network) { n.Routes[0].Gateway = "fe80::1%eth0" },
		"DNS: a list of 33":                       func(n *Network) { n.Dns.Searches = make([]string, 33) },
		"DNS:  a list of 33":                      func(n *Network) { n.Dns.Servers = slices.Repeat([]string{"::1"}, 33) },
		"DNS:   a list of 33":                     func(n *Network) { n.Dns.Options = make([]string, 33) },
		"is longer than 255":                      func(n *Network) { n.Dns.Domain = strings.Repeat("a", 256) },
	} {
		t.Run(want, func(t *testing.T) {
			n := example()
			wrong(n)
			require.ErrorContains(t, n.Check(), strings.Join(strings.Fields(want), " "))
		})
	}
	require.ErrorContains(t, (*Network)(nil).Check(), "no address")
	n := example()
	for i := range 30 {
		n.Interfaces = append(n.Interfaces, &Interface{Name: fmt.Sprint("i", i)})
	}
	n.Interfaces[1].Name = strings.Repeat("a", 15)
	require.NoError(t, n.Check())
}

func FuzzGiven(f *testing.F) {
	reply := &api.RunPodSandboxResponse{}
	if err := Give(reply, example()); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(reply.ProtoReflect().GetUnknown()))
	f.Fuzz(func(t *testing.T, unknown []byte) {
		reply := &api.RunPodSandboxResponse{}
		reply.ProtoReflect().SetUnknown(unknown)
		if n, err := Given(reply); err == nil && n.Check() == nil {
			require.NotEmpty(t, n.GetInterfaces()[0].GetAddresses())
		}
	})
}
