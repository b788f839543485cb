// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/core/runtime"
)

// endTime is how long a shim has to end that has answered its shutdown.
const endTime = time.Second

// shutDownAfter shuts the shim down after the deletion of its task. If it answers both,
// its delete command has nothing left to do.
func (s *shimTask) shutDownAfter(ctx context.Context, deletion error) error {
	// Noted before, as the connection may close while the answer is read.
	noteDeleted(s.ShimInstance, deletion == nil)
	err := s.waitShutdown(ctx)
	if err != nil {
		noteDeleted(s.ShimInstance, false)
	}
	return err
}

func noteDeleted(instance ShimInstance, deleted bool) {
	if s, ok := instance.(*shim); ok {
		s.bundle.deleted.Store(deleted)
	}
}

// awaitEnd waits until the shim of a deleted task has ended, for endTime at most: it
// reads in its bundle where its sockets are that it removes. A shim that serves other
// tasks goes on, and is not awaited.
func awaitEnd(ctx context.Context, id string, shims *runtime.NSMap[ShimInstance], bundle *Bundle) {
	params, err := readBootstrapParams(filepath.Join(bundle.Path, "bootstrap.json"))
	if err != nil {
		return
	}
	path, ok := strings.CutPrefix(params.GetAddress(), "unix://")
	if !ok || servesOthers(ctx, id, shims, params.GetAddress()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return // nobody listens
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
	defer stop()
	_, _ = conn.Read(make([]byte, 1)) // returns when the other side has ended, it sends nothing by itself
}

func servesOthers(ctx context.Context, id string, shims *runtime.NSMap[ShimInstance], address string) bool {
	all, err := shims.GetAll(ctx, false)
	if err != nil {
		return false
	}
	for _, other := range all {
		endpoint, _ := other.Endpoint()
		if other.ID() != id && strings.HasSuffix(endpoint, address) {
			return true
		}
	}
	return false
}
