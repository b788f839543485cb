// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/api"
	"golang.org/x/sys/unix"
)

// Script is what a plugin does that runs in a process of its own. It subscribes
// to all that a Plugin does, and agrees to each event that has no answer here.
type Script struct {
	Index, Name string
	Policy      *api.FailurePolicy
	Answers     map[Event]Answer
	// FreezeAfter stops the process in the midst of reading, once it has read so
	// many bytes of its first connection. With zero it reads on.
	FreezeAfter int
	// Returns has it register again whenever its connection has gone.
	Returns bool
	// Cgroups are folders of cgroups that the process goes to before it connects.
	Cgroups []string
	// User is whom the process becomes before it connects, if it is not root.
	User int
}

// Answer is how one kind of event is answered: first Freeze, then Work, then the
// answer. Nothing of it looks at the context of the runtime.
type Answer struct {
	// Freeze stops the process (SIGSTOP) in the first event of this kind, until
	// somebody wakes it.
	Freeze bool
	// Work is how long each event takes.
	Work time.Duration
	// Reject is the error that rejects the event. Empty agrees.
	Reject string
}

// reply is the answer as a Plugin takes it.
func (a Answer) reply() Reply {
	var once sync.Once
	return func(context.Context, *Call) error {
		if a.Freeze {
			once.Do(freeze)
		}
		if a.Work > 0 {
			<-time.After(a.Work)
		}
		if a.Reject != "" {
			return errors.New(a.Reject)
		}
		return nil
	}
}

// freeze stops this process, and returns when it was woken. The signal goes to
// this very thread, which another one would let run on for a moment.
func freeze() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP); err != nil {
		panic(err) // nothing but a wrong number can be rejected
	}
}
