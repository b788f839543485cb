// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/podresources/internal/nri/provisional"
)

// Any input gives an error, or resources that can be sent again.
func FuzzR4_Decode(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(slices.Concat(
		msg(1, str(1, "setup"), msg(3, quantity(1, "cpu", "2"))),
		msg(1, str(1, "web"), num(2, 1), msg(3, quantity(2, "memory", "1Gi")), msg(4, str(1, "/data")), msg(5, str(3, "rw")), msg(6, str(1, "vendor.com/gpu=0"))),
		msg(2, quantity(1, "cpu", "1e3")),
	))
	f.Add(slices.Concat(msg(1, str(1, "setup")), msg(2, str(1, "web"), msg(3, quantity(1, "cpu", "0.5")))))
	f.Add(str(7, "hello"))
	f.Add(num(1, 7))
	f.Add(msg(1, str(1, "web"), msg(3, quantity(1, "cpu", "1e999999999"))))
	f.Add(msg(1, str(1, "web"), msg(3, quantity(1, "cpu", "-.5Ki"))))
	f.Fuzz(func(t *testing.T, wire []byte) {
		c := config(t)
		c.ProtoReflect().SetUnknown(wire) // no request has this, as it would be malformed itself
		Decode(c)
		c = config(t)
		provisional.Set(c, FieldOfPod, append([]byte{}, wire...))
		got, err := Decode(c)
		if (got == nil) == (err == nil) {
			t.Fatalf("%v and %v", got, err)
		}
		if err != nil {
			return
		}
		again := config(t)
		if err := Set(again, got); err != nil {
			t.Fatalf("set what was read: %v", err)
		}
		if same, err := Decode(again); err != nil || !proto.Equal(got, same) {
			t.Errorf("%v became %v (%v)", got, same, err)
		}
		text, err := ToAnnotation(got)
		if errors.Is(err, errTooLarge) {
			return // than it was on the wire
		}
		if err != nil {
			t.Fatalf("%v as JSON: %v", got, err)
		}
		if slices.ContainsFunc(got.GetContainers(), func(c *ContainerResourceConfig) bool { return c.Type == nil }) {
			return // the annotation has to say
		}
		if _, err := FromAnnotation(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	})
}
