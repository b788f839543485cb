// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"io"
	"net"
	"sync"
)

// A link passes on the connections of one socket to another one, and can cut them: NRI's own half keeps
// the connections of plugins that it has not started.
type link struct {
	listener net.Listener
	to       string
	running  sync.WaitGroup // its goroutines

	mu   sync.Mutex // guards open
	open []net.Conn
}

func newLink(from, to string) (*link, error) {
	listener, err := net.Listen("unix", from)
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, to: to}
	l.run(l.accept)
	return l, nil
}

func (l *link) run(f func()) {
	l.running.Add(1)
	go func() {
		defer l.running.Done()
		f()
	}()
}

func (l *link) accept() {
	for {
		plugin, err := l.listener.Accept()
		if err != nil {
			return
		}
		runtime, err := net.Dial("unix", l.to)
		if err != nil {
			_ = plugin.Close()
			continue
		}
		l.mu.Lock()
		l.open = append(l.open, plugin, runtime)
		l.mu.Unlock()
		l.run(func() { pass(plugin, runtime) })
		l.run(func() { pass(runtime, plugin) })
	}
}

// pass passes on what comes until one of both ends, and ends the other. The other direction ends the first.
func pass(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
}

// cut ends all connections.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.open {
		_ = c.Close()
	}
	l.open = nil
}

// close ends the link.
func (l *link) close() {
	_ = l.listener.Close()
	l.cut()
	l.running.Wait()
}
