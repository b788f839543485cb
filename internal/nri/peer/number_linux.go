// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ticks is the number of clock ticks of /proc in a second, on every platform of Linux.
const ticks = 100

// errReused says that a process number has gone to another process.
var errReused = fmt.Errorf("%w, and its number has gone to another process", ErrGone)

// pidfdByNumber opens the process that has the number of the one that connected, for kernels
// that hand out no pidfd. It is taken for the same process only if
//
//   - it started before the connection was accepted,
//   - it has the user and group of the connection, and
//   - the connection is still open after that: the kernel closes it with the process,
//     unless that has passed it on.
//
// One case remains: a process passes the connection on and exits, and its number goes to another
// process of the same user before the connection is accepted.
func pidfdByNumber(fd int, cred *unix.Ucred) (int, error) {
	accepted, err := sinceBoot()
	if err != nil {
		return -1, err
	}
	held, err := unix.PidfdOpen(int(cred.Pid), 0)
	if errors.Is(err, unix.ESRCH) {
		return -1, ErrGone
	}
	if err != nil {
		return -1, fmt.Errorf("pidfd_open: %w", err)
	}
	if err := isSame(fd, cred, accepted); err != nil {
		return -1, errors.Join(err, unix.Close(held))
	}
	return held, nil
}

// isSame returns an error unless the process of that number made the connection. accepted is in
// ticks since boot.
func isSame(fd int, cred *unix.Ucred, accepted uint64) error {
	started, err := startOf(int(cred.Pid))
	if err != nil {
		return err
	}
	if started > accepted {
		return errReused
	}
	var owner unix.Stat_t
	// The folder belongs to the effective user and group of the process.
	if err := unix.Stat(fmt.Sprintf("/proc/%d", cred.Pid), &owner); err != nil {
		return fmt.Errorf("owner: %w", err)
	}
	if owner.Uid != cred.Uid || owner.Gid != cred.Gid {
		return fmt.Errorf("it belongs to user %d and group %d now, the connection of %d and %d", owner.Uid, owner.Gid, cred.Uid, cred.Gid)
	}
	switch closed, err := polled(fd, unix.POLLRDHUP); {
	case err != nil:
		return err
	case closed:
		return errors.New("the connection was closed")
	}
	return nil
}

// sinceBoot returns the current time in ticks since boot.
func sinceBoot() (uint64, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0, fmt.Errorf("time since boot: %w", err)
	}
	return uint64(now.Sec)*ticks + uint64(now.Nsec)*ticks/1e9, nil
}

// startOf returns when a process started, in ticks since boot.
func startOf(pid int) (uint64, error) {
	const field = 22 - 3 // starttime, counted behind the name of the program
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("start: %w", err)
	}
	// The name is in parentheses, and may have more of them.
	rest := string(content[strings.LastIndexByte(string(content), ')')+1:])
	fields := strings.Fields(rest)
	if len(fields) <= field {
		return 0, fmt.Errorf("start: /proc/%d/stat has %d fields", pid, len(fields))
	}
	return strconv.ParseUint(fields[field], 10, 64)
}
