// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// script is the part of a pod: containerd, 10, starts a plugin that starts another one; then runc,
// which forks a process that later becomes the pod's program.
const script = `
   10/12      1.000000000:          1     sched:sched_process_fork: comm=containerd pid=12 child_comm=containerd child_pid=20
   20/20      1.001000000:          1     sched:sched_process_exec: filename=/n/cni/bin/ptp pid=20 old_pid=20
   20/20      1.002000000:    1000000                        clock: 
   20/21      1.003000000:          1     sched:sched_process_fork: comm=my ptp pid=21 child_comm=my ptp child_pid=22
   22/22      1.004000000:          1     sched:sched_process_exec: filename=/n/cni/bin/host-local pid=22 old_pid=22
   22/22      1.005000000:          1     sched:sched_process_exit: comm=host-local pid=22 prio=120 group_dead=true
   20/20      1.006000000:          1     sched:sched_process_exit: comm=ptp pid=20 prio=120 group_dead=false
   20/21      1.007000000:          1     sched:sched_process_exit: comm=ptp pid=21 prio=120 group_dead=true
   10/11      1.008000000:          1     syscalls:sys_enter_fsync: fd: 0x00000003
   10/12      1.009000000:          1 syscalls:sys_enter_fdatasync: fd: 0x00000004
   10/11      1.010000000:          1      syscalls:sys_exit_fsync: 0x0
   10/-1      1.010500000:    1000000                        clock: 
   10/10      1.011000000:          1     sched:sched_process_fork: comm=containerd pid=10 child_comm=containerd child_pid=30
   30/30      1.012000000:          1     sched:sched_process_exec: filename=/n/bin/runc pid=30 old_pid=30
   30/30      1.013000000:          1     sched:sched_process_fork: comm=runc pid=30 child_comm=runc child_pid=31
   31/31      1.014000000:          1     sched:sched_process_exec: filename=/proc/self/fd/6 pid=31 old_pid=31
   31/31      1.015000000:          1     sched:sched_process_fork: comm=runc:[1:CHILD] pid=31 child_comm=runc:[1:CHILD] child_pid=32
   31/31      1.016000000:          1     sched:sched_process_exit: comm=runc:[1:CHILD] pid=31 prio=120
   32/32      1.017000000:    1000000                        clock: 
   32/32      1.018000000:          1     sched:sched_process_exec: filename=/pause pid=32 old_pid=32
   32/32      1.019000000:          1     sched:sched_process_exec: filename=/again pid=32 old_pid=32
`

// A program has its start, its end, its parent, and the command line that was noted at that time.
func TestRead(t *testing.T) {
	at := func(milliseconds int) time.Duration {
		return time.Second + time.Duration(milliseconds)*time.Millisecond
	}
	trace, err := read(strings.NewReader(script), map[int][]command{
		20: {
			{at: 0, args: []string{"/bin/before"}},
			{at: at(1) + time.Microsecond, args: []string{"/n/cni/bin/ptp"}, cni: cniArgs{"ADD", "pod"}},
		},
		22: {{at: at(4), args: []string{"/n/cni/bin/host-local"}, cni: cniArgs{"ADD", "pod"}}},
		30: {{at: at(12), args: []string{"/n/bin/runc", "--root", "/start/here", "create", "--bundle", "b", "container"}}},
		31: {{at: at(14), args: []string{"runc", "init"}}},
	})
	require.NoError(t, err)
	require.Len(t, trace.Programs, 6)
	ptp, hostLocal, runc, init, pause, again := trace.Programs[0], trace.Programs[1], trace.Programs[2], trace.Programs[3], trace.Programs[4], trace.Programs[5]

	require.Equal(t, "CNI ptp ADD", ptp.Name())
	require.Equal(t, []time.Duration{at(1), at(7)}, []time.Duration{ptp.Start, ptp.End})
	require.True(t, ptp.Exited)
	require.Nil(t, ptp.Parent)
	require.Equal(t, "CNI host-local ADD", hostLocal.Name())
	require.Same(t, ptp, hostLocal.Parent)
	require.Equal(t, at(5), hostLocal.End)

	require.Equal(t, "runc create", runc.Name())
	require.Zero(t, runc.End)
	require.Equal(t, "runc init", init.Name())
	require.Same(t, runc, init.Parent)
	require.Equal(t, at(16), init.End)
	require.Same(t, init, pause.Parent)
	require.Equal(t, at(19), pause.End)
	require.False(t, pause.Exited)
	require.Same(t, pause, again.Parent)

	require.True(t, again.Below("/n"))
	require.False(t, again.Below("/n/b"))
	require.True(t, again.For("other", "container"))
	require.True(t, ptp.For("pod"))
	require.False(t, ptp.For("container"))
	require.False(t, again.For())

	require.Equal(t, []Wait{
		{Process: 10, At: at(8), Took: 2 * time.Millisecond}, {Process: 10, At: at(9)},
	}, trace.Waits)
	require.Len(t, trace.Samples, 3)
	require.Same(t, ptp, trace.Samples[0].Program)
	require.Nil(t, trace.Samples[1].Program)
	require.Same(t, init, trace.Samples[2].Program)
	require.Equal(t, time.Millisecond, trace.Samples[2].Took)
}

// The reader fails instead of guessing.
func TestReadRejects(t *testing.T) {
	for text, want := range map[string]string{
		"comm  12 [000] 1.0: fork\n":                           `perf script: not an event: "comm  12 [000] 1.0: fork"`,
		"10/10 1.000000000: 1 sched:sched_switch: x\n":         `perf script: "10/10 1.000000000: 1 sched:sched_switch: x": not an event that was asked for`,
		"10/10 1.000000000: PERF_RECORD_LOST lost 7\n":         "perf lost events: the machine is too busy to tell what ran",
		"10/10 1.000000000: 1 sched:sched_process_fork: a=1\n": `perf script: "10/10 1.000000000: 1 sched:sched_process_fork: a=1": strconv.Atoi: parsing "": invalid syntax`,
	} {
		_, err := read(strings.NewReader(text), nil)
		require.EqualError(t, err, want)
	}
}

func TestName(t *testing.T) {
	runc := &Program{Path: "/n/bin/runc", command: command{args: []string{"runc", "create"}}}
	for _, test := range []struct {
		want    string
		program Program
	}{
		{"runc ?", Program{Path: "/n/bin/runc"}},
		{"runc", Program{Path: "/n/bin/runc", command: command{args: []string{"runc", "--version"}}}},
		{"runc ?", Program{Path: "/proc/self/fd/6", Parent: runc}},
		{"runc init", Program{Path: "/proc/self/exe", command: command{args: []string{"/n/bin/runc", "init"}}}},
		{"ptp ?", Program{Path: "/n/cni/bin/ptp", command: command{args: []string{"ptp"}}}},
		{"CNI loopback DEL", Program{Path: "/n/cni/bin/loopback", command: command{cni: cniArgs{verb: "DEL"}}}},
		{"containerd-shim-runc-v2 start", Program{Path: "/n/bin/containerd-shim-runc-v2", command: command{args: []string{"x", "-id", "y", "start"}}}},
		{"containerd-shim-runc-v2", Program{Path: "/b/containerd-shim-runc-v2", command: command{args: []string{"x", "-id", "y"}}}},
		{"pause", Program{Path: "/pause"}},
	} {
		require.Equal(t, test.want, test.program.Name())
	}
}

// The kernel's message has the process after its thread.
func TestReadStart(t *testing.T) {
	e := binary.NativeEndian
	message := make([]byte, eventAt)
	message = e.AppendUint32(message, execEvent)
	message = e.AppendUint32(message, 1) // processor
	message = e.AppendUint64(message, uint64(3*time.Second))
	message = e.AppendUint32(message, 41)
	message = e.AppendUint32(message, 40)
	at, pid, ok := readStart(message)
	require.True(t, ok)
	require.Equal(t, 3*time.Second, at)
	require.Equal(t, 40, pid)

	_, _, ok = readStart(message[:len(message)-1])
	require.False(t, ok)
	e.PutUint32(message[eventAt:], execEvent+1)
	_, _, ok = readStart(message)
	require.False(t, ok)

	require.Len(t, request(), unix.SizeofNlMsghdr+connectorSize+4)
	require.Equal(t, uint32(len(request())), e.Uint32(request()))
}
