// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The bytes of a sender that has the KEP's own messages can be read.
func TestDecode(t *testing.T) {
	got, err := Decode(config(t, msg(10,
		msg(1, str(1, "setup"), msg(3, quantity(1, "cpu", "2"))),
		msg(1,
			str(1, "web"), num(2, 1),
			msg(3, quantity(1, "cpu", "500m"), quantity(2, "memory", "1Gi")),
			msg(4, str(1, "/data"), str(2, "/srv/data"), num(3, 1)),
			msg(5, str(1, "/dev/null"), str(2, "/dev/zero"), str(3, "rw")),
			msg(6, str(1, "vendor.com/gpu=0")),
		),
		msg(2, quantity(1, "cpu", "3")),
	)))
	require.NoError(t, err)
	equal(t, &PodResourceConfig{
		Containers:          []*ContainerResourceConfig{{Name: "setup", KubernetesResources: requests("cpu", "2")}, web()},
		KubernetesResources: requests("cpu", "3"),
	}, got)
}

// In the KEP's text of February 2024 field 1 had the init containers and field 2 the main ones, and
// each pod has a main one. That form is rejected, whatever name a user chooses: the name of a
// container there is no resource here (R4).
func TestDecodeRejectsTheFirstForm(t *testing.T) {
	for name, main := range map[string][]byte{
		"malformed as resources":   msg(2, str(1, "web"), num(2, 1), msg(3, quantity(1, "cpu", "1"))),
		"a message as resources":   msg(2, str(1, "po"), num(2, 1), msg(3, quantity(1, "cpu", "1"))),
		"name with a digit":        msg(2, str(1, "0a")),
		"name comes last":          msg(2, msg(3, quantity(1, "cpu", "1")), str(1, "po")),
		"name and resources":       slices.Concat(msg(2, str(1, "po")), msg(2, quantity(1, "cpu", "1"))),
		"resources and name":       slices.Concat(msg(2, quantity(1, "cpu", "1")), msg(2, str(1, "po"))),
		"two, the second readable": slices.Concat(msg(2, str(1, "web")), msg(2, str(1, "po"))),
	} {
		t.Run(name, func(t *testing.T) {
			for _, wire := range [][]byte{main, slices.Concat(msg(1, str(1, "setup")), main)} {
				got, err := Decode(config(t, msg(10, wire)))
				require.ErrorContains(t, err, "field 10 of PodSandboxConfig: ")
				require.Nil(t, got)
			}
		})
	}
}

// The resources of the pod as a whole can be read in any form that protobuf allows.
func TestDecodeWhole(t *testing.T) {
	for name, of := range map[string]struct {
		wire []byte
		want *KubernetesResources
	}{
		"empty":            {msg(2), &KubernetesResources{}},
		"requests":         {msg(2, quantity(1, "cpu", "1")), requests("cpu", "1")},
		"value before key": {msg(2, msg(1, msg(2, str(1, "1")), str(1, "cpu"))), requests("cpu", "1")},
		"in parts":         {slices.Concat(msg(2), msg(2, quantity(1, "cpu", "1"))), requests("cpu", "1")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(config(t, msg(10, of.wire)))
			require.NoError(t, err)
			equal(t, &PodResourceConfig{KubernetesResources: of.want}, got)
		})
	}
	got, err := Decode(config(t, msg(10, msg(2, quantity(1, "cpu", "1")), msg(3))))
	require.NoError(t, err, "one more field")
	equal(t, requests("cpu", "1"), got.GetKubernetesResources())
}

// A StringValue has the wire format of Kubernetes' Quantity.
func TestQuantityIsThatOfKubernetes(t *testing.T) {
	quantity := resource.MustParse("1500m")
	want, err := quantity.Marshal()
	require.NoError(t, err)
	got, err := proto.Marshal(wrapperspb.String("1500m"))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// Some texts of the KEP have more types, and so may CRI.
func TestDecodeAnotherType(t *testing.T) {
	got, err := Decode(config(t, msg(10, msg(1, str(1, "web"), num(2, 2)))))
	require.NoError(t, err)
	require.EqualValues(t, 2, got.GetContainers()[0].GetType())
}

// An empty field is an empty announcement, and a missing field is none.
func TestDecodeNothing(t *testing.T) {
	for _, c := range [][]byte{nil, num(11, 1), msg(12, str(1, "web"))} {
		got, err := Decode(config(t, c))
		require.NoError(t, err)
		require.Nil(t, got)
	}
	got, err := Decode(config(t, msg(10)))
	require.NoError(t, err)
	equal(t, &PodResourceConfig{}, got)
	got, err = Decode(nil)
	require.NoError(t, err)
	require.Nil(t, got)
}

// A message in parts is one message.
func TestDecodeParts(t *testing.T) {
	got, err := Decode(config(t, msg(10, msg(1, str(1, "a"))), num(11, 1), msg(10, msg(1, str(1, "b")))))
	require.NoError(t, err)
	equal(t, &PodResourceConfig{Containers: []*ContainerResourceConfig{{Name: "a"}, {Name: "b"}}}, got)
}

func TestDecodeErrors(t *testing.T) {
	container := func(parts ...[]byte) []byte {
		return msg(10, msg(1, append([][]byte{str(1, "web")}, parts...)...))
	}
	limit := func(name, text string) []byte { return container(msg(3, quantity(2, name, text))) }
	many := func(n int) (parts [][]byte) {
		for i := range n {
			parts = append(parts, msg(1, str(1, "c"+strings.Repeat("x", i%400)+string(rune('a'+i/400)))))
		}
		return parts
	}
	for name, bad := range map[string]struct {
		wire []byte
		want string
	}{
		"varint":             {num(10, 1), "is a varint, want a message"},
		"32 bits":            {protowire.AppendFixed32(protowire.AppendTag(nil, 10, protowire.Fixed32Type), 1), "is 32 bits, want a message"},
		"malformed":          {msg(10, []byte{0xff}), "malformed: "},
		"cut off":            {msg(10, msg(1, str(1, "web"))[:4]), "malformed: "},
		"malformed within":   {msg(10, msg(1, []byte{0x0a, 0x7f})), "malformed: "},
		"no text":            {msg(10, msg(1, str(1, "\xff"))), "malformed: "},
		"a string":           {str(10, "hello"), "malformed: "},
		"another string":     {str(10, "po"), errOther.Error()},
		"number for list":    {msg(10, num(1, 4)), "its field 1 is a varint, want a message"},
		"number for whole":   {msg(10, msg(1, str(1, "web")), num(2, 4)), "its field 2 is a varint, want a message"},
		"entry of nothing":   {msg(10, msg(2, msg(1))), "the pod as a whole: requests: a resource: has no name"},
		"1 MiB":              {container(msg(4, str(1, strings.Repeat("x", 1<<20)))), "bytes, want less than 262144"},
		"256 KiB in parts":   {slices.Concat(msg(10, str(7, strings.Repeat("x", 1<<17))), msg(10, str(7, strings.Repeat("x", 1<<17)))), "want less than 262144"},
		"mounts of nothing":  {container(slices.Repeat(msg(4), 4096)), "4096 mounts, devices and quantities, want less than 4096"},
		"quantities":         {msg(10, msg(1, str(1, "web"), msg(3, slices.Repeat(quantity(1, "a", "1"), 4000))), msg(2, slices.Repeat(quantity(2, "a", "1"), 96))), "4096 mounts, devices and quantities"},
		"mount":              {container(msg(4, str(2, "/srv"))), `container "web": mount 1 of 1 has no path in the container`},
		"device":             {container(msg(5, str(2, "/srv"))), `container "web": device 1 of 1 has no path in the container`},
		"CDI device":         {container(msg(6), msg(6, str(1, "x"))), `container "web": CDI device 1 of 2 has no name`},
		"500 containers":     {msg(10, many(500)...), "500 containers, want less than 500"},
		"no name":            {msg(10, msg(1, num(2, 1))), "container 1 of 1: has no name"},
		"long name":          {msg(10, msg(1, str(1, strings.Repeat("x", 512)))), "container 1 of 1: has a name of 512 bytes, want less than 512"},
		"twice":              {msg(10, msg(1, str(1, "a")), msg(1, str(1, "b")), msg(1, str(1, "a"))), `two containers have the name "a", number 1 and number 3`},
		"no quantity":        {limit("cpu", ""), `container "web": limits: "cpu": quantity "": is empty`},
		"no number":          {limit("cpu", "two"), `container "web": limits: "cpu": quantity "two": `},
		"negative":           {limit("cpu", "-1m"), `container "web": limits: "cpu": quantity "-1m": is negative`},
		"absurd":             {limit("memory", "1Ei"), `quantity "1Ei": want less than 1Ei`},
		"beyond all numbers": {limit("memory", "9e99"), `quantity "9e99": want less than 1Ei`},
		"exponent":           {limit("memory", "1e999999999"), "exponent of more than 2 digits"},
		"negative exponent":  {limit("memory", "1E-999999999"), "exponent of more than 2 digits"},
		"long":               {limit("memory", strings.Repeat("1", 1000)), "1000 characters, want less than 64"},
		"no resource":        {limit("", "1"), `container "web": limits: a resource: has no name`},
		"of the pod":         {msg(10, msg(2, quantity(1, "cpu", "-1"))), `the pod as a whole: requests: "cpu": quantity "-1": is negative`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(config(t, bad.wire))
			require.ErrorContains(t, err, "field 10 of PodSandboxConfig: ")
			require.ErrorContains(t, err, bad.want)
			require.Nil(t, got)
			require.Less(t, len(err.Error()), 1000)
		})
	}
	got, err := Decode(config(t, msg(10, many(499)...)))
	require.NoError(t, err)
	require.Len(t, got.GetContainers(), 499)
}
