// SPDX-License-Identifier: Apache-2.0

package netstatus

import (
	"fmt"
	"strings"
	"time"
)

// State is the state of a network. The constants are in order: the greatest is the
// worst.
type State int

const (
	// Unknown is before the first answer.
	Unknown State = iota
	// Unsupported is a network below CNI 1.1.0, which has no STATUS.
	Unsupported
	// OK is a network that takes pods.
	OK
	// TryAgain is CNI error 11: it will take pods, but not now.
	TryAgain
	// NotAvailable is CNI error 50: it takes no pods.
	NotAvailable
	// Degraded is CNI error 51: it takes no pods, and the pods on it may have lost
	// connectivity.
	Degraded
	// OtherError is any other error that a plugin answered.
	OtherError
	// ExecFailed is a plugin that could not be run, or failed without an answer.
	ExecFailed
	// TimedOut is a plugin that did not answer in time.
	TimedOut
	// NotInitialized means that no network but a loopback is configured.
	NotInitialized
)

var states = [...]struct{ name, label, text string }{
	Unknown:        {"Unknown", "unknown", "has not answered STATUS yet"},
	Unsupported:    {"Unsupported", "unsupported", "has no STATUS"},
	OK:             {"OK", "ok", "is ready"},
	TryAgain:       {"TryAgain", "try_again", "takes no pods now, try again later"},
	NotAvailable:   {"NotAvailable", "not_available", "takes no pods"},
	Degraded:       {"Degraded", "degraded", "takes no pods and may have limited connectivity"},
	OtherError:     {"OtherError", "other_error", "answers STATUS with an error"},
	ExecFailed:     {"ExecFailed", "exec_failed", "failed STATUS without an answer"},
	TimedOut:       {"TimedOut", "timed_out", "did not answer STATUS in time"},
	NotInitialized: {"NotInitialized", "not_initialized", "is not initialized"},
}

// String returns the name of the constant.
func (s State) String() string {
	if s < 0 || int(s) >= len(states) {
		return fmt.Sprintf("State(%d)", int(s))
	}
	return states[s].name
}

// Label returns the name in the snake case of a metric's labels.
func (s State) Label() string {
	if s < 0 || int(s) >= len(states) {
		return fmt.Sprintf("state_%d", int(s))
	}
	return states[s].label
}

// Ready reports whether pods can be added.
func (s State) Ready() bool { return s == OK || s == Unsupported }

// Status is one answer.
type Status struct {
	State State
	// Network is the name of the network that answered: the worst of several.
	// It is empty if there is none, or no answer yet.
	Network string
	// Plugin is the type of the plugin that failed, empty if none did.
	Plugin string
	// Code is the CNI error code, and 0 if the plugin gave none.
	Code uint
	// Message and Details are the plugin's. For ExecFailed, TimedOut and NotInitialized they
	// describe the failure. They are valid UTF-8 of at most 1 KiB each.
	Message, Details string
	// Asked is when the plugin was asked, zero for Unknown.
	Asked time.Time
	// Since is when answers began to have this network, plugin, state and code.
	Since time.Time
	// Took is how long the answer took.
	Took time.Duration
}

// Ready reports whether pods can be added.
func (s Status) Ready() bool { return s.State.Ready() }

// String returns the status as a sentence: network, state, code, since when, and the plugin's
// message.
func (s Status) String() string {
	var b strings.Builder
	b.WriteString("network")
	if s.Network != "" {
		fmt.Fprintf(&b, " %q", s.Network)
	}
	if s.State >= 0 && int(s.State) < len(states) {
		b.WriteString(" " + states[s.State].text)
	}
	if s.Code != 0 {
		fmt.Fprintf(&b, " (CNI error %d)", s.Code)
	}
	if !s.Since.IsZero() && !s.Ready() {
		fmt.Fprintf(&b, ", since %s", s.Since.UTC().Format(time.RFC3339))
	}
	if s.Message != "" {
		b.WriteString(": " + s.Message)
	}
	if s.Details != "" {
		b.WriteString("; " + s.Details)
	}
	return b.String()
}

// Err returns nil if pods can be added, and otherwise an error with the text of String. To
// containerd's errdefs it is ErrUnavailable.
func (s Status) Err() error {
	if s.Ready() {
		return nil
	}
	return unavailable(s.String())
}

type unavailable string

func (u unavailable) Error() string { return string(u) + ": unavailable" }

// Unavailable is how errdefs.IsUnavailable knows the class.
func (unavailable) Unavailable() {}

// same reports whether s has the network, plugin, state and code of before.
func (s Status) same(before Status) bool {
	return s.State == before.State && s.Network == before.Network && s.Plugin == before.Plugin && s.Code == before.Code
}
