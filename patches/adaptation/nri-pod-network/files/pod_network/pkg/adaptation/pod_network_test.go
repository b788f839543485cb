// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/ttrpc"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/containerd/nri/internal/podnetwork"
	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// networking is a plugin that replies with a network, and says whether it takes pods.
type networking struct {
	stub   stub.Stub
	reply  func(*api.RunPodSandboxResponse)
	word   func(proto.Message) // in the answer to Synchronize
	fields []byte              // added to requests that update containers

	mu    sync.Mutex // guards what follows
	asked []string   // pods, each with its addresses
}

func (p *networking) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, strings.Join(append([]string{pod.GetId()}, pod.GetIps()...), " "))
	return nil
}

func (p *networking) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	return nil, nil
}

func (p *networking) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

func (p *networking) answer(ctx context.Context, unmarshal ttrpc.Unmarshaler, _ *ttrpc.UnaryServerInfo, method ttrpc.Method) (any, error) {
	reply, err := method(ctx, unmarshal)
	switch r := reply.(type) {
	case *api.RunPodSandboxResponse:
		if p.reply != nil {
			p.reply(r)
		}
	case *api.SynchronizeResponse:
		if p.word != nil {
			p.word(r)
		}
	}
	return reply, err
}

func (p *networking) ask(ctx context.Context, req *ttrpc.Request, resp *ttrpc.Response, info *ttrpc.UnaryClientInfo, invoke ttrpc.Invoker) error {
	if strings.HasSuffix(info.FullMethod, "/UpdateContainers") {
		req.Payload = append(req.Payload, p.fields...)
	}
	return invoke(ctx, req, resp)
}

// says sends the plugin's status.
func (p *networking) says(fields []byte, updates ...*api.ContainerUpdate) error {
	p.fields = fields
	_, err := p.stub.UpdateContainers(updates)
	return err
}

func encoded(t *testing.T, code uint32, message string) []byte {
	wire, err := podnetwork.AppendStatus(nil, &podnetwork.Status{Code: code, Message: message})
	require.NoError(t, err)
	return wire
}

// connects connects the plugin under a name such as "10-net".
func (p *networking) connects(t *testing.T, r *nri.Adaptation, dir, name string) *networking {
	t.Helper()
	index, base, _ := strings.Cut(name, "-")
	s, err := stub.New(p, stub.WithPluginName(base), stub.WithPluginIdx(index), stub.WithSocketPath(filepath.Join(dir, "nri.sock")),
		stub.WithTTRPCOptions(
			[]ttrpc.ClientOpts{ttrpc.WithChainUnaryClientInterceptor(p.ask)},
			[]ttrpc.ServerOpt{ttrpc.WithChainUnaryServerInterceptor(p.answer)}))
	require.NoError(t, err)
	p.stub = s
	require.NoError(t, s.Start(context.Background()))
	t.Cleanup(s.Stop)
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(r.PluginStatus(), func(s nri.PluginStatus) bool { return s.Name == name && s.Synchronized })
	}, soon, time.Millisecond)
	return p
}

func gives(addresses ...string) func(*api.RunPodSandboxResponse) {
	return func(r *api.RunPodSandboxResponse) {
		_ = podnetwork.Give(r, &podnetwork.Network{Interfaces: []*podnetwork.Interface{{Name: "eth0", Addresses: addresses}}})
	}
}

// onNetwork returns the request for a pod whose network a plugin gives.
func onNetwork(plugin, id string) *api.RunPodSandboxRequest {
	pod := &api.PodSandbox{Id: id}
	nri.SetNetworkPlugin(pod, plugin)
	return &api.RunPodSandboxRequest{Pod: pod}
}

// networks starts an adaptation with a plugin "net" that pods may name.
func networks(t *testing.T) (*nri.Adaptation, string) {
	t.Helper()
	dir := t.TempDir()
	return runtimeWith(t, dir, lists, nri.WithPluginSettings(map[string]nri.PluginSettings{
		"net":  {Network: true, Wait: 50 * time.Millisecond},
		"gate": {RequiredForContainers: true, Wait: time.Millisecond},
	})), dir
}

// The runtime receives the network before others are asked, and they receive the addresses that it returns.
func TestPluginGivesAPodItsNetwork(t *testing.T) {
	r, dir := networks(t)
	first := (&networking{reply: gives("10.9.9.9/24")}).connects(t, r, dir, "00-first")
	net := (&networking{reply: gives("10.0.0.7/24", "fd00::7/64")}).connects(t, r, dir, "50-net")
	last := (&networking{}).connects(t, r, dir, "90-last")
	var given []string
	connect := func(n *nri.PodNetwork) ([]string, error) {
		require.Empty(t, first.all())
		given = append(given, n.GetInterfaces()[0].GetAddresses()...)
		return []string{"10.0.0.7", "fd00::7"}, nil
	}
	require.NoError(t, r.ConnectPodSandbox(t.Context(), onNetwork("net", "pod"), connect))
	require.Equal(t, []string{"10.0.0.7/24", "fd00::7/64"}, given)
	require.Equal(t, []string{"pod"}, net.all())
	require.Equal(t, []string{"pod 10.0.0.7 fd00::7"}, first.all())
	require.Equal(t, []string{"pod 10.0.0.7 fd00::7"}, last.all())

	given = nil
	byIndex := func(n *nri.PodNetwork) ([]string, error) { given = append(given, "by index"); return nil, nil }
	require.NoError(t, r.ConnectPodSandbox(t.Context(), onNetwork("50-net", "by-index"), byIndex))
	require.Equal(t, []string{"by index"}, given)
	require.NoError(t, r.ConnectPodSandbox(t.Context(), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "cni", Ips: []string{"1.2.3.4"}}},
		func(*nri.PodNetwork) ([]string, error) { return nil, errors.New("no plugin gives its network") }))
	require.Equal(t, []string{"pod 10.0.0.7 fd00::7", "by-index", "cni 1.2.3.4"}, last.all())
}

func TestPodWithoutANetworkIsRejected(t *testing.T) {
	failed := func(*nri.PodNetwork) ([]string, error) { return nil, errors.New("disk full") }
	never := func(*nri.PodNetwork) ([]string, error) { return nil, errors.New("must not be called") }
	malformed := func(r *api.RunPodSandboxResponse) { r.ProtoReflect().SetUnknown([]byte{0xc2, 0x3e, 0x01, 0xff}) }
	for name, test := range map[string]struct {
		reply   func(*api.RunPodSandboxResponse)
		connect func(*nri.PodNetwork) ([]string, error)
		want    string
	}{
		"no network":        {nil, never, "plugin 50-net rejected RunPodSandbox: the network in its reply: no address"},
		"no address":        {gives(), never, "plugin 50-net rejected RunPodSandbox: the network in its reply: no address"},
		"malformed":         {malformed, never, "plugin 50-net rejected RunPodSandbox: the network in its reply: provisional fields"},
		"the runtime fails": {gives("10.0.0.7/24"), failed, "network that plugin 50-net gave: disk full"},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := networks(t)
			first := (&networking{}).connects(t, r, dir, "00-first")
			(&networking{reply: test.reply}).connects(t, r, dir, "50-net")
			err := r.ConnectPodSandbox(t.Context(), onNetwork("net", "pod"), test.connect)
			require.ErrorContains(t, err, test.want)
			require.Equal(t, codes.FailedPrecondition, status.Code(err))
			require.Empty(t, first.all())
		})
	}
}

// A pod requires the plugin that it names. Others and its containers do not.
func TestPodRequiresThePluginOfItsNetwork(t *testing.T) {
	r, dir := networks(t)
	(&networking{reply: gives("10.0.0.7/24")}).connects(t, r, dir, "10-other")
	err := r.ConnectPodSandbox(t.Context(), onNetwork("net", "pod"), nil)
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.ErrorContains(t, err, "required plugin net is disconnected since")
	require.ErrorContains(t, err, "(waited for it for 50ms)")
	_, err = r.AwaitRequired(t.Context(), onNetwork("net", "pod2"))
	require.ErrorContains(t, err, "required plugin net is disconnected since")
	require.NoError(t, r.RunPodSandbox(t.Context(), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "cni"}}))
	r = withSettings(t, t.TempDir(), "net", nri.PluginSettings{Network: true, Wait: time.Millisecond}, &requiredRecord{})
	pod := onNetwork("net", "pod3").GetPod()
	_, err = r.CreateContainer(t.Context(), &api.CreateContainerRequest{Pod: pod, Container: &api.Container{Id: "c", PodSandboxId: "pod3"}})
	require.NoError(t, err)
}

// A plugin says whether its network takes pods when it registers, and later. Its last status counts while it
// is connected.
func TestPluginSaysWhetherItsNetworkTakesPods(t *testing.T) {
	r, dir := networks(t)
	word := func() *nri.PodNetworkStatus {
		all := r.RequiredPlugins()
		require.Equal(t, []string{"gate", "net"}, []string{all[0].Name, all[1].Name})
		require.Nil(t, all[0].Network, "a plugin that gives no network")
		return all[1].Network
	}
	require.Nil(t, word())
	says := func(code uint32, message string) func(proto.Message) {
		return func(m proto.Message) { _ = podnetwork.Report(m, &podnetwork.Status{Code: code, Message: message}) }
	}
	(&networking{word: says(51, "another plugin")}).connects(t, r, dir, "10-other")
	(&networking{word: says(51, "no network")}).connects(t, r, dir, "10-gate")
	p := (&networking{word: says(50, "no uplink")}).connects(t, r, dir, "50-net")
	require.Equal(t, "no uplink (code 50)", word().Reason())

	p.stub.Stop()
	require.Eventually(t, func() bool { return word() == nil }, soon, time.Millisecond)
	require.False(t, r.RequiredPlugins()[1].Disconnected.IsZero())

	p = (&networking{}).connects(t, r, dir, "50-net")
	require.NoError(t, p.says(encoded(t, 51, strings.Repeat("é", 1000))))
	require.Equal(t, strings.Repeat("é", 128), word().GetMessage())
	require.NoError(t, p.says(nil), "a request without a status changes nothing")
	require.EqualValues(t, 51, word().GetCode())
	require.Equal(t, codes.InvalidArgument, status.Code(p.says([]byte{0xc2, 0x3e, 0x01, 0xff})))
	require.EqualValues(t, 51, word().GetCode())
	require.NoError(t, p.says(encoded(t, 50, "one\nline\x1b")))
	require.Equal(t, "one line ", word().GetMessage())
	require.NoError(t, p.says(encoded(t, 0, "fine")))
	require.Nil(t, word())
}

// An instance of the name that did not subscribe to RunPodSandbox is no network.
func TestInstanceThatIsNotAskedGivesNothing(t *testing.T) {
	r, dir := networks(t)
	s, err := stub.New(stops{}, stub.WithPluginName("net"), stub.WithPluginIdx("10"), stub.WithSocketPath(filepath.Join(dir, "nri.sock")))
	require.NoError(t, err)
	require.NoError(t, s.Start(context.Background()))
	t.Cleanup(s.Stop)
	(&networking{reply: gives("10.0.0.7/24")}).connects(t, r, dir, "50-net")
	(&networking{reply: gives("10.0.0.8/24")}).connects(t, r, dir, "60-net") // another one that comes too late
	given := 0
	require.NoError(t, r.ConnectPodSandbox(t.Context(), onNetwork("net", "pod"), func(*nri.PodNetwork) ([]string, error) {
		given++
		return []string{"10.0.0.7"}, nil
	}))
	require.Equal(t, 1, given)
}

// stops is a plugin that subscribes to stops alone.
type stops struct{}

func (stops) StopPodSandbox(context.Context, *api.PodSandbox) error { return nil }

// What a plugin reports while it answers Synchronize is newer than the answer.
func TestAnswerToSynchronizeIsOlder(t *testing.T) {
	r, dir := networks(t)
	p := &networking{}
	p.word = func(m proto.Message) {
		require.NoError(t, p.says(encoded(t, 50, "newer")))
		_ = podnetwork.Report(m, &podnetwork.Status{})
	}
	p.connects(t, r, dir, "50-net")
	require.Equal(t, "newer", r.RequiredPlugins()[1].Network.GetMessage())
}

// A plugin that may do nothing else may say that its network takes no pods. The status in a request that it
// has no right to counts all the same.
func TestNetworkStatusNeedsNoRight(t *testing.T) {
	dir := t.TempDir()
	r := withSettings(t, dir, "net", nri.PluginSettings{Network: true, Rights: []string{"events.RunPodSandbox"}}, &missingRights{})
	p := (&networking{}).connects(t, r, dir, "50-net")
	require.NoError(t, p.says(encoded(t, 50, "")))
	require.EqualValues(t, 50, r.RequiredPlugins()[0].Network.GetCode())
	err := p.says(encoded(t, 51, ""), &api.ContainerUpdate{ContainerId: "c"})
	require.Equal(t, codes.PermissionDenied, status.Code(err))
	require.EqualValues(t, 51, r.RequiredPlugins()[0].Network.GetCode())
}

// A plugin whose answer to Synchronize is malformed does not join.
func TestMalformedNetworkStatusAtSynchronize(t *testing.T) {
	r, dir := networks(t)
	p := &networking{word: func(m proto.Message) { m.ProtoReflect().SetUnknown([]byte{0xc2, 0x3e, 0x01, 0xff}) }}
	s, err := stub.New(p, stub.WithPluginName("net"), stub.WithPluginIdx("50"), stub.WithSocketPath(filepath.Join(dir, "nri.sock")),
		stub.WithTTRPCOptions(nil, []ttrpc.ServerOpt{ttrpc.WithChainUnaryServerInterceptor(p.answer)}))
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Run(context.Background()) }()
	select {
	case <-ended:
	case <-time.After(soon):
		require.Fail(t, "the plugin stays connected")
	}
	require.Empty(t, r.PluginStatus())
}
