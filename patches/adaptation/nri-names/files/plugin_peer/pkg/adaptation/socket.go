// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
)

// DefaultSocketMode lets only the runtime's own user connect.
const DefaultSocketMode fs.FileMode = 0o600

// permissions determine who may write to the socket, and so may connect.
type permissions struct {
	mode     fs.FileMode
	uid, gid int // -1: the runtime's
}

// WithSocketPermissions sets the mode and the owner of the socket that plugins connect
// to. A uid or gid of -1 is that of the runtime.
func WithSocketPermissions(mode fs.FileMode, uid, gid int) Option {
	return func(r *Adaptation) error {
		if mode&^fs.ModePerm != 0 || uid < -1 || gid < -1 {
			return fmt.Errorf("socket of mode %o, user %d and group %d: no such permissions", mode, uid, gid)
		}
		r.socket = permissions{mode, uid, gid}
		return nil
	}
}

// newSocket makes the socket that plugins connect to. No process can connect before its
// owner and mode are set.
func (r *Adaptation) newSocket() (net.Listener, error) {
	l, err := (&net.ListenConfig{Control: closedToAll}).Listen(context.Background(), "unix", r.socketPath)
	if err != nil {
		return nil, err
	}
	if err := r.socket.set(r.socketPath); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (p permissions) set(path string) error {
	if p.uid != -1 || p.gid != -1 {
		if err := os.Lchown(path, p.uid, p.gid); err != nil {
			return err
		}
	}
	return os.Chmod(path, p.mode)
}
