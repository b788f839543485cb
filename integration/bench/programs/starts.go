// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// command is the command line of a program.
type command struct {
	at   time.Duration
	args []string
	cni  cniArgs
}

// cniArgs are the arguments of a CNI plugin, from its environment.
type cniArgs struct{ verb, container string }

// starts records the command line of each program that starts, until it is closed.
type starts struct {
	socket   int
	open     *os.File // one end of a pipe; note reads the other
	ended    chan struct{}
	once     sync.Once
	count    atomic.Int64
	commands map[int][]command // by process; complete once closed
	err      error
}

// Of the kernel's linux/connector.h and linux/cn_proc.h.
const (
	procGroup  = 1 // CN_IDX_PROC
	procValue  = 1 // CN_VAL_PROC
	procListen = 1 // PROC_CN_MCAST_LISTEN
	execEvent  = 2 // PROC_EVENT_EXEC

	connectorSize = 20
	eventAt       = unix.SizeofNlMsghdr + connectorSize // the kind of the event, then processor, time, thread and process
	timeAt        = eventAt + 8
	processAt     = eventAt + 20
)

// listen asks the kernel to report programs that start.
func listen() (_ *starts, retErr error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_CONNECTOR)
	if err != nil {
		return nil, fmt.Errorf("%w: the kernel does not report programs that start (CONFIG_PROC_EVENTS): %w", node.ErrPrerequisite, err)
	}
	defer func() {
		if retErr != nil {
			retErr = errors.Join(fmt.Errorf("listen to the process connector: %w", retErr), unix.Close(fd))
		}
	}()
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: procGroup}); err != nil {
		return nil, err
	}
	// The kernel reports all threads, and many start at once: the filter keeps only programs.
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 4<<20); err != nil {
		return nil, err
	}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, onlyPrograms()); err != nil {
		return nil, err
	}
	if err := unix.Sendto(fd, request(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	closed, open, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &starts{socket: fd, open: open, ended: make(chan struct{}), commands: map[int][]command{}}
	go s.note(closed)
	return s, nil
}

// onlyPrograms is a filter that passes only execEvent. It reads numbers in network byte order.
func onlyPrograms() *unix.SockFprog {
	kind := binary.BigEndian.Uint32(binary.NativeEndian.AppendUint32(nil, execEvent))
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: eventAt},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: kind},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 16},
		{Code: unix.BPF_RET | unix.BPF_K},
	}
	return &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
}

func request() []byte {
	const word = 4
	e := binary.NativeEndian
	b := e.AppendUint32(nil, eventAt+word)
	b = e.AppendUint16(b, unix.NLMSG_DONE)
	b = append(b, make([]byte, unix.SizeofNlMsghdr-len(b))...) // flags, number and sender
	b = e.AppendUint32(b, procGroup)
	b = e.AppendUint32(b, procValue)
	b = append(b, make([]byte, 2*word)...) // number and acknowledgement
	b = e.AppendUint16(b, word)
	b = append(b, 0, 0)
	return e.AppendUint32(b, procListen)
}

// heard waits until the kernel has reported a program. One must start meanwhile.
func (s *starts) heard(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err := wait.Until(ctx, "the start of a program", func(context.Context) error {
		if s.count.Load() == 0 {
			return errors.New("none was reported")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w: the kernel does not report programs that start (CONFIG_PROC_EVENTS, and the host's PID and network namespaces): %w",
			node.ErrPrerequisite, err)
	}
	return nil
}

// note reads until the pipe is closed. A program may end within milliseconds, so its command line
// is read with the highest priority, on a thread that is not used again.
func (s *starts) note(closed *os.File) {
	defer close(s.ended)
	runtime.LockOSThread()
	first := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	_ = unix.SchedSetAttr(0, first, 0) // if that fails, more programs end before they are read
	err := s.noteUntil(int(closed.Fd()))
	s.err = errors.Join(err, closed.Close(), unix.Close(s.socket))
}

func (s *starts) noteUntil(closed int) error {
	message := make([]byte, os.Getpagesize())
	ready := []unix.PollFd{{Fd: int32(s.socket), Events: unix.POLLIN}, {Fd: int32(closed)}} // poll always reports its end
	for {
		if _, err := unix.Poll(ready, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for the process connector: %w", err)
		}
		if ready[1].Revents != 0 {
			return nil
		}
		n, err := unix.Read(s.socket, message)
		switch {
		case errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			continue // programs that were dropped have no command line
		case err != nil:
			return fmt.Errorf("read from the process connector: %w", err)
		}
		if at, pid, ok := readStart(message[:n]); ok {
			s.add(at, pid)
		}
	}
}

func (s *starts) add(at time.Duration, pid int) {
	s.count.Add(1)
	if c, ok := commandOf(pid); ok {
		c.at = at
		s.commands[pid] = append(s.commands[pid], c)
	}
}

// readStart returns when a process started a program.
func readStart(message []byte) (at time.Duration, pid int, ok bool) {
	e := binary.NativeEndian
	if len(message) < processAt+4 || e.Uint32(message[eventAt:]) != execEvent {
		return 0, 0, false
	}
	return time.Duration(e.Uint64(message[timeAt:])), int(e.Uint32(message[processAt:])), true
}

// commandOf returns the command line of a process, if it still exists.
func commandOf(pid int) (c command, ok bool) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		return c, false
	}
	c.args = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return c, true
	}
	for variable := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(variable, []byte("CNI_COMMAND=")); ok {
			c.cni.verb = string(value)
		}
		if value, ok := bytes.CutPrefix(variable, []byte("CNI_CONTAINERID=")); ok {
			c.cni.container = string(value)
		}
	}
	return c, true
}

// close ends the recording. Only the first call may fail.
func (s *starts) close() (err error) {
	s.once.Do(func() {
		err = s.open.Close()
		<-s.ended
		err = errors.Join(err, s.err)
	})
	return err
}
