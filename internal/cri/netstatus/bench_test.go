// SPDX-License-Identifier: Apache-2.0

package netstatus

import (
	"context"
	"testing"
	"time"

	gocni "github.com/containerd/go-cni"
)

// BenchmarkStatus measures a call that returns the last answer.
func BenchmarkStatus(b *testing.B) {
	m := New(func() *gocni.ConfigResult { return nil }, nil, Options{Interval: time.Hour, FirstWait: time.Minute})
	defer m.Close()
	ctx := context.Background()
	if s := m.Status(ctx); s.State != NotInitialized {
		b.Fatal(s)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Status(ctx)
		}
	})
}
