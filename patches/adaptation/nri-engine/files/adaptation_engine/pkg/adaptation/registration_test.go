// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fullListener fails to accept for as long as it has errors.
type fullListener struct {
	net.Listener
	errs []error
}

func (l *fullListener) Accept() (net.Conn, error) {
	err := l.errs[0]
	l.errs = l.errs[1:]
	return nil, err
}

// Errors that pass, such as too many open files, do not end registration. Only
// the end of the listener does.
func TestAcceptGoesOn(t *testing.T) {
	l := &fullListener{errs: []error{syscall.EMFILE, syscall.ENFILE, net.ErrClosed, syscall.EMFILE}}
	r := &Adaptation{ending: make(chan struct{})}
	r.accept(l)
	require.Len(t, l.errs, 1)
}
