// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// The environment of a plugin's process: its script, and the socket where it registers.
const (
	scriptVariable = "HOOKLINE_PLUGIN_SCRIPT"
	socketVariable = "HOOKLINE_PLUGIN_SOCKET"
)

// Environment returns variables that make a program, which must call Act, act the script at an NRI
// socket.
func (s Script) Environment(socket string) ([]string, error) {
	script, err := json.Marshal(s)
	return []string{scriptVariable + "=" + string(script), socketVariable + "=" + socket}, err
}

// Act acts a script until it is killed, if Start has started this process for that, and reports
// whether it did. The main function of a program that calls Start must call Act first.
func Act() (acted bool, err error) {
	text, received := os.LookupEnv(scriptVariable)
	if !received {
		return false, nil
	}
	var s Script
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return true, fmt.Errorf("read script of plugin: %w", err)
	}
	return true, s.act(os.Getenv(socketVariable), os.Stdout)
}

// again is the time after which a plugin that returns tries to register again.
const again = 5 * time.Millisecond

func (s Script) act(socket string, out io.Writer) error {
	p, w := New(s.Index, s.Name), &writer{out: json.NewEncoder(out), numbers: map[*Call]int{}}
	p.policy, p.events, p.seen = s.Policy, s.Events, w.call
	for event, answer := range s.Answers {
		p.On(event, answer.reply())
	}
	if err := s.becomes(); err != nil {
		return err
	}
	err := s.connection(p, socket, w)
	if !s.Returns {
		return err
	}
	s.FreezeAfter = 0
	for range time.Tick(again) {
		_ = s.connection(p, socket, w) // the next connection follows
	}
	return nil
}

// connection serves one connection, from its registration to its end.
func (s Script) connection(p *Plugin, socket string, w *writer) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.wrap = func(c net.Conn) net.Conn {
		return &conn{Conn: c, left: s.FreezeAfter, end: sync.OnceFunc(func() { w.gone(); cancel() })}
	}
	if err := p.Connect(ctx, socket); err != nil {
		w.kept(err)
		return err
	}
	<-ctx.Done()
	return nil
}

// conn notices when the connection has ended. It stops the process once the given number of bytes
// was read.
type conn struct {
	net.Conn
	left int
	end  func()
}

func (c *conn) Read(b []byte) (int, error) {
	limited := c.left > 0
	if limited {
		b = b[:min(len(b), c.left)]
	}
	n, err := c.Conn.Read(b)
	if c.left -= n; limited && c.left <= 0 {
		freeze()
	}
	if err != nil {
		c.end()
	}
	return n, err
}

// line is a line in the output of a process: the start or the end of a call or, without an event, the
// loss of its connection or the failure to connect. Numbers count the calls from 1.
type line struct {
	Number int
	Call
	Err, Abandoned string    // in place of the errors in Call
	Gone           time.Time // when the connection was lost
	KeptOut        string    // why it could not connect
}

// writer writes lines, each as a whole.
type writer struct {
	mu      sync.Mutex
	out     *json.Encoder
	numbers map[*Call]int
}

// call writes the start of a call, and its end the next time. It panics if the output has no reader.
func (w *writer) call(of *Call, now Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := line{Number: w.numbers[of], Call: now}
	if l.Number == 0 {
		l.Number = len(w.numbers) + 1
		w.numbers[of] = l.Number
	} else { // the content was written with the start
		l.Pods, l.Containers = nil, nil
	}
	if now.Err != nil {
		l.Err = now.Err.Error()
	}
	if now.Abandoned != nil {
		l.Abandoned = now.Abandoned.Error()
	}
	w.write(l)
}

func (w *writer) gone() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write(line{Gone: time.Now()})
}

func (w *writer) kept(out error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write(line{KeptOut: out.Error()})
}

func (w *writer) write(l line) {
	if err := w.out.Encode(l); err != nil {
		panic(err)
	}
}
