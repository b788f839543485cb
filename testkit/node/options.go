// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"fmt"
	"os/exec"
	"time"

	"github.com/hookline-nri/hookline/testkit/host"
)

// ErrPrerequisite is wrapped by errors about a missing prerequisite of the machine. Their text is one
// line that names it and says what to do.
var ErrPrerequisite = host.ErrPrerequisite

// Options describe a node. Only Bin and Tools are needed.
type Options struct {
	Bin   string // folder of containerd and containerd-shim-runc-v2
	Tools string // folder of runc and the CNI plugins ptp, host-local and loopback
	Pause string // static program for the image; if empty, it is built with go from testkit/pause
	Base  string // folder of nodes, not below /var/lib; if empty, /run/hookline

	// NRI's timeouts for plugins; if zero, those of containerd.
	RequestTimeout      time.Duration
	RegistrationTimeout time.Duration

	// WithoutNRI switches NRI off: no plugin receives anything.
	WithoutNRI bool

	// WithoutPause makes pods without a pause container, unless they need one. Bin has the shim
	// for that: containerd-shim-sandboxed-runc-v2.
	WithoutPause bool

	// Config is additional configuration of containerd in TOML, which overrides the
	// node's own. It starts with its version.
	Config string
	// Network is a CNI configuration list; if empty, ptp with host-local.
	Network string
	// Chained adds a plugin to the default network: pass, which does nothing.
	Chained bool
	// Traces makes containerd send its traces to the address of ReceiveTraces.
	Traces bool
	// LogLevel of containerd; if empty, debug.
	LogLevel string
}

// Check returns an error if no node can run here, as far as can be seen without running one. Its
// errors wrap ErrPrerequisite.
func (o Options) Check() error {
	if err := host.Check(); err != nil {
		return err
	}
	programs := []string{"containerd", shim}
	if o.WithoutPause {
		programs = append(programs, sandboxedShim)
	}
	for _, name := range programs {
		if err := host.Executable(o.Bin, name, "make build"); err != nil {
			return err
		}
	}
	for _, name := range []string{"runc", "ptp", "host-local", "loopback"} {
		if err := host.Executable(o.Tools, name, "make tools"); err != nil {
			return err
		}
	}
	if o.Pause == "" {
		if _, err := exec.LookPath("go"); err != nil {
			return fmt.Errorf("%w: go is not in PATH, and no pause program was given", ErrPrerequisite)
		}
	}
	return nil
}

// containerd's default timeouts for plugins.
const (
	requestTimeout      = 2 * time.Second
	registrationTimeout = 5 * time.Second
)

// Timeouts returns the node's timeouts for plugins: for a request, and for a registration.
func (n *Node) Timeouts() (request, registration time.Duration) {
	return cmp.Or(n.options.RequestTimeout, requestTimeout), cmp.Or(n.options.RegistrationTimeout, registrationTimeout)
}
