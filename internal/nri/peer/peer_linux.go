// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Of returns the process that made conn, a connection that was just accepted. It fails with
// ErrGone if that process has exited. It also fails if the process is in a pid namespace that
// the caller cannot see.
func Of(conn syscall.Conn) (*Peer, error) {
	return of(conn, pidfdOf)
}

// of is Of with the kernel's way to a pidfd as an argument.
func of(conn syscall.Conn, pidfd func(fd int, cred *unix.Ucred) (int, error)) (*Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("peer of the connection: %w", err)
	}
	var peer *Peer
	ctrl := raw.Control(func(fd uintptr) {
		peer, err = ofSocket(int(fd), pidfd)
	})
	if err := errors.Join(ctrl, err); err != nil {
		return nil, fmt.Errorf("peer of the connection: %w", err)
	}
	return peer, nil
}

func ofSocket(fd int, pidfd func(int, *unix.Ucred) (int, error)) (*Peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return nil, fmt.Errorf("read its credentials: %w", err)
	}
	if cred.Pid <= 0 {
		return nil, errors.New("its process is in a pid namespace that is not visible from here")
	}
	held, err := pidfd(fd, cred)
	byNumber := errors.Is(err, errNoPidfd)
	if byNumber {
		held, err = pidfdByNumber(fd, cred)
	}
	if err != nil {
		return nil, fmt.Errorf("hold process %d of user %d: %w", cred.Pid, cred.Uid, err)
	}
	peer := &Peer{UID: cred.Uid, GID: cred.Gid, PID: int(cred.Pid), ByNumber: byNumber, pidfd: os.NewFile(uintptr(held), "pidfd")}
	if err := peer.lives(); err != nil {
		return nil, errors.Join(err, peer.Close())
	}
	return peer, nil
}

// errNoPidfd says that the kernel hands out no pidfd of a peer, as kernels before 6.5.
var errNoPidfd = errors.New("the kernel does not hand out a pidfd of the peer")

// pidfdOf returns a pidfd of the process that connected.
func pidfdOf(fd int, cred *unix.Ucred) (int, error) {
	held, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	switch {
	case err == nil:
		return held, nil
	case errors.Is(err, unix.ENOPROTOOPT):
		return -1, errNoPidfd
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENODATA):
		return -1, ErrGone
	}
	return -1, fmt.Errorf("SO_PEERPIDFD: %w", err)
}

// lives fails with ErrGone once the process has exited. Until then the number belongs to it, and
// so do the files below /proc that were read before.
func (p *Peer) lives() error {
	switch exited, err := readable(int(p.pidfd.Fd())); {
	case err != nil:
		return fmt.Errorf("process %d: %w", p.PID, err)
	case exited:
		return ErrGone
	}
	return nil
}

// readable reports whether fd can be read, as a pidfd can once its process has exited.
func readable(fd int) (bool, error) {
	return polled(fd, unix.POLLIN)
}

// polled reports, at once, whether one of the events has come.
func polled(fd int, events int16) (bool, error) {
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
		switch n, err := unix.Poll(fds, 0); {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return false, fmt.Errorf("poll: %w", err)
		default:
			return n > 0, nil
		}
	}
}

// Pod returns the pod that the process runs in now, the zero value if it runs in none. It fails
// with ErrGone if the process has exited. It also fails if the cgroups of the process contradict
// each other, or if the node itself runs in a pod.
func (p *Peer) Pod() (Pod, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return Pod{}, fmt.Errorf("pod of %v: own cgroup: %w", p, err)
	}
	content, err := p.cgroups()
	if err != nil {
		return Pod{}, fmt.Errorf("pod of %v: %w", p, err)
	}
	pod, err := podOf(content, string(own))
	if err != nil {
		return Pod{}, fmt.Errorf("pod of %v: %w", p, err)
	}
	return pod, nil
}

// Unit returns the unit of the host that restarts the process when it exits, by the path of its
// cgroup: a service of systemd, or a container. It is empty if there is none, or if that cannot
// be found out.
func (p *Peer) Unit() string {
	content, err := p.cgroups()
	if err != nil {
		return ""
	}
	return unitOf(content)
}

// cgroups returns the content of /proc/PID/cgroup.
func (p *Peer) cgroups() (string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", p.PID))
	// Its number may have gone to another process before it was read, but not if it is
	// still its own afterwards.
	if gone := p.lives(); gone != nil {
		return "", gone
	}
	return string(content), err
}
