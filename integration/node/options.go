// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// DefaultBase is the folder of nodes. It belongs to root, and its path is short
// enough for the paths of sockets.
const DefaultBase = "/run/hookline"

// ErrPrerequisite is wrapped by errors about what the host lacks. Their text is one
// line that names it and says what to do.
var ErrPrerequisite = errors.New("missing prerequisite")

// Options describe a node. Only Bin and Tools are needed.
type Options struct {
	Bin   string // folder of containerd and containerd-shim-runc-v2
	Tools string // folder of runc and the CNI plugins ptp, host-local and loopback
	Pause string // static program for the image; built with go from integration/pause when empty
	Base  string // folder of nodes, not below /var/lib; DefaultBase when empty

	// NRI's timeouts for plugins; those of containerd when zero.
	RequestTimeout      time.Duration
	RegistrationTimeout time.Duration

	// WithoutNRI switches NRI off: no plugin is asked or told.
	WithoutNRI bool

	// Config is additional configuration of containerd in TOML, which overrides the
	// node's own. It starts with its version.
	Config string
	// Network is a CNI configuration list; ptp with host-local when empty.
	Network string
	// Chained adds a plugin to the default network, pass, which does nothing.
	Chained bool
	// Traces has containerd send its traces to where ReceiveTraces receives them.
	Traces bool
	// LogLevel of containerd; debug when empty.
	LogLevel string
}

// Check tells whether a node can run here, as far as can be told without
// running one. Its errors wrap ErrPrerequisite.
func (o Options) Check() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: not root: a node needs namespaces, mounts and cgroups, run as root", ErrPrerequisite)
	}
	for _, name := range []string{"containerd", shim} {
		if err := executable(o.Bin, name, "make build"); err != nil {
			return err
		}
	}
	for _, name := range []string{"runc", "ptp", "host-local", "loopback"} {
		if err := executable(o.Tools, name, "make tools"); err != nil {
			return err
		}
	}
	if o.Pause == "" {
		if _, err := exec.LookPath("go"); err != nil {
			return fmt.Errorf("%w: go is not in PATH, and no pause program was given", ErrPrerequisite)
		}
	}
	filesystems, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		return fmt.Errorf("%w: /proc is not mounted: %w", ErrPrerequisite, err)
	}
	if !strings.Contains(string(filesystems), "\toverlay\n") {
		return fmt.Errorf("%w: the kernel has no overlayfs: load its module (modprobe overlay)", ErrPrerequisite)
	}
	_, err = hierarchies()
	return err
}

func executable(folder, name, target string) error {
	path := filepath.Join(folder, name)
	if info, err := os.Stat(path); err != nil || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%w: no program %s: run `%s`", ErrPrerequisite, path, target)
	}
	return nil
}

// What containerd has for plugins where nothing is set.
const (
	requestTimeout      = 2 * time.Second
	registrationTimeout = 5 * time.Second
)

// Timeouts are those that the node has for plugins: for a request, and for a
// registration.
func (n *Node) Timeouts() (request, registration time.Duration) {
	return cmp.Or(n.options.RequestTimeout, requestTimeout), cmp.Or(n.options.RegistrationTimeout, registrationTimeout)
}
