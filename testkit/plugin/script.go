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

// Script sets the behavior of a plugin that runs in a process of its own. The plugin subscribes to the
// same events as a Plugin, and approves each event without an answer here.
type Script struct {
	Index, Name string
	Policy      *api.FailurePolicy
	Events      []Event // that it subscribes to, all if empty
	Answers     map[Event]Answer
	// FreezeAfter stops the process while it reads, once it has read so many bytes of its first
	// connection. With zero it reads on.
	FreezeAfter int
	// Returns makes it register again whenever its connection is lost.
	Returns bool
	// Cgroups are folders of cgroups that the process moves to before it connects.
	Cgroups []string
	// User is the user that the process becomes before it connects, if it is not root.
	User int
}

// Answer is the answer to one kind of event: first Freeze, then Work, then the answer. It ignores the
// context of the runtime.
type Answer struct {
	// Freeze stops the process (SIGSTOP) in the first event of this kind, until another
	// process wakes it.
	Freeze bool
	// Work is how long each event takes.
	Work time.Duration
	// Reject is the error that rejects the event. An empty one approves it.
	Reject string
	// Adjust is the adjustment of a container that is created.
	Adjust *api.ContainerAdjustment
}

// reply returns the answer as a Reply.
func (a Answer) reply() Reply {
	var once sync.Once
	return func(_ context.Context, call *Call) error {
		if a.Freeze {
			once.Do(freeze)
		}
		if a.Work > 0 {
			<-time.After(a.Work)
		}
		if a.Reject != "" {
			return errors.New(a.Reject)
		}
		call.Adjust = a.Adjust
		return nil
	}
}

// freeze stops this process, and returns when it was woken. The signal goes to this very thread: if
// another thread got it, this one would run on for a moment.
func freeze() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP); err != nil {
		panic(err) // it fails only for a wrong number
	}
}
