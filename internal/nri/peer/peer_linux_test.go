// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestMain is also the program of the processes that connect. Given a socket, it waits for a
// line on its input, connects, and runs until the input ends.
func TestMain(m *testing.M) {
	if socket := os.Getenv("PEER_CONNECTS_TO"); socket != "" {
		connect(socket)
		return
	}
	os.Exit(m.Run())
}

func connect(socket string) {
	input := bufio.NewReader(os.Stdin)
	if _, err := input.ReadString('\n'); err != nil {
		return
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if keeper := os.Getenv("PEER_LEAVES_IT_TO"); keeper != "" {
		leave(conn.(*net.UnixConn), keeper)
		return
	}
	_, _ = io.Copy(io.Discard, input)
}

// leave hands the connection to a program that outlives this process, and prints its number.
func leave(conn *net.UnixConn, keeper string) {
	cmd := exec.Command(keeper, "60")
	file, err := conn.File()
	if err == nil {
		cmd.ExtraFiles = []*os.File{file}
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(cmd.Process.Pid)
}

// process is one that connects.
type process struct {
	cmd   *exec.Cmd
	input io.WriteCloser
}

// start runs a process that is about to connect to the listener.
func start(t *testing.T, l net.Listener, set func(*exec.Cmd)) *process {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "PEER_CONNECTS_TO="+l.Addr().String())
	cmd.Stderr = os.Stderr
	if set != nil {
		set(cmd)
	}
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{cmd, input}
	t.Cleanup(p.end)
	return p
}

// connects has it connect, and returns the other end.
func (p *process) connects(t *testing.T, l net.Listener) *net.UnixConn {
	_, err := io.WriteString(p.input, "\n")
	require.NoError(t, err)
	conn, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.UnixConn)
}

// end ends it, and waits until its number is free.
func (p *process) end() {
	_ = p.input.Close()
	_ = p.cmd.Wait()
}

func listen(t *testing.T) net.Listener {
	// Others connect, too: t.TempDir is for this user alone.
	dir, err := os.MkdirTemp("", "peer-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	l, err := net.Listen("unix", filepath.Join(dir, "sock"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	require.NoError(t, os.Chmod(l.Addr().String(), 0o777))
	return l
}

// ways are the ways to get a pidfd: from the kernel, and by number, as with a kernel that hands out
// none.
var ways = map[string]func(int, *unix.Ucred) (int, error){
	"kernel": pidfdOf,
	"number": func(int, *unix.Ucred) (int, error) { return -1, errNoPidfd },
}

func TestOf(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			l := listen(t)
			p := start(t, l, nil)
			peer, err := of(p.connects(t, l), way)
			require.NoError(t, err)
			defer func() { require.NoError(t, peer.Close()) }()
			require.Equal(t, p.cmd.Process.Pid, peer.PID)
			require.Equal(t, name == "number", peer.ByNumber)
			require.EqualValues(t, os.Geteuid(), peer.UID)
			require.EqualValues(t, os.Getegid(), peer.GID)
			_, err = peer.Pod()
			require.NoError(t, err)

			p.end()
			_, err = peer.Pod()
			require.ErrorIs(t, err, ErrGone)
		})
	}
}

// The user is the one that connected. Only root can run a process of another.
func TestOf_AnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to run a process as another user")
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			l := listen(t)
			p := start(t, l, func(cmd *exec.Cmd) {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 64123, Gid: 64124}}
			})
			peer, err := of(p.connects(t, l), way)
			require.NoError(t, err)
			defer func() { require.NoError(t, peer.Close()) }()
			require.EqualValues(t, 64123, peer.UID)
			require.EqualValues(t, 64124, peer.GID)
		})
	}
}

// A process that has exited is not taken for another one.
func TestOf_Gone(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			l := listen(t)
			p := start(t, l, nil)
			conn := p.connects(t, l)
			p.end()
			_, err := of(conn, way)
			require.ErrorIs(t, err, ErrGone)
		})
	}
}

// Nor is a process that it has left the connection to taken for it.
func TestOf_GoneAndConnectionKept(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			l := listen(t)
			var out strings.Builder
			p := start(t, l, func(cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, "PEER_LEAVES_IT_TO="+sleep)
				cmd.Stdout = &out
			})
			conn := p.connects(t, l)
			require.NoError(t, p.cmd.Wait())
			keeper, err := strconv.Atoi(strings.TrimSpace(out.String()))
			require.NoError(t, err)
			t.Cleanup(func() { _ = syscall.Kill(keeper, syscall.SIGKILL) })
			_, err = of(conn, way)
			require.ErrorIs(t, err, ErrGone)
		})
	}
}

// A number that went to another process is not the peer's, by each of the signs.
func TestIsSame(t *testing.T) {
	l := listen(t)
	p := start(t, l, nil)
	conn := p.connects(t, l)
	raw, err := conn.SyscallConn()
	require.NoError(t, err)
	cred := &unix.Ucred{Pid: int32(p.cmd.Process.Pid), Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid())}
	other := *cred
	other.Uid++
	same := func(cred *unix.Ucred, accepted uint64) (err error) {
		require.NoError(t, raw.Control(func(fd uintptr) { err = isSame(int(fd), cred, accepted) }))
		return err
	}
	now, err := sinceBoot()
	require.NoError(t, err)
	started, err := startOf(p.cmd.Process.Pid)
	require.NoError(t, err)
	require.LessOrEqual(t, started, now)

	require.NoError(t, same(cred, now))
	require.ErrorIs(t, same(cred, started-1), errReused)
	require.ErrorContains(t, same(&other, now), fmt.Sprintf("the connection of %d", other.Uid))
	p.end()
	require.Error(t, same(cred, now))
}

func TestOf_NoSocket(t *testing.T) {
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer file.Close()
	_, err = Of(file)
	require.ErrorContains(t, err, "peer of the connection: read its credentials")
}

// Two processes are in the cgroups of two pods, and one is in none. This needs root, and a
// hierarchy of cgroups, v1 or v2, with this process at its top or below.
func TestPod(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make cgroups")
	}
	top := filepath.Join(hierarchy(t), fmt.Sprint("nri-peer-", os.Getpid()))
	l := listen(t)
	for _, test := range []struct {
		name, cgroup string
		want         Pod
	}{
		{"cgroupfs", top + "/kubepods/burstable/pod" + uid + "/" + id, Pod{uid, id}},
		{"systemd", top + ".slice/nri-kubepods.slice/nri-kubepods-pod" + strings.ReplaceAll(staticUID, "-", "_") + ".slice/cri-containerd-" + id + ".scope", Pod{staticUID, id}},
		{"no pod", top + "/service", Pod{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			procs := newCgroup(t, test.cgroup)
			p := start(t, l, nil)
			require.NoError(t, os.WriteFile(procs, []byte(strconv.Itoa(p.cmd.Process.Pid)), 0))
			peer, err := Of(p.connects(t, l))
			require.NoError(t, err)
			defer func() { require.NoError(t, peer.Close()) }()
			pod, err := peer.Pod()
			require.NoError(t, err)
			require.Equal(t, test.want, pod)
		})
	}
}

// hierarchy is where cgroups can be made.
func hierarchy(t *testing.T) string {
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"} {
		if unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil {
			return dir
		}
	}
	require.Fail(t, "no hierarchy of cgroups is mounted where cgroups can be made")
	return ""
}

// newCgroup makes a cgroup that is removed after the test, and returns the file that moves
// processes into it.
func newCgroup(t *testing.T, dir string) string {
	t.Cleanup(func() {
		for ; strings.Contains(dir, "nri-peer"); dir = filepath.Dir(dir) {
			require.NoError(t, os.Remove(dir))
		}
	})
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return filepath.Join(dir, "cgroup.procs")
}
