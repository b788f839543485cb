// SPDX-License-Identifier: Apache-2.0

package others

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/testkit/node"
)

// ofNRI are NRI's own sample plugins.
var ofNRI = map[string]plugin{
	"logger":                  logger(),
	"device-injector":         deviceInjector(),
	"hook-injector":           hookInjector(),
	"network-device-injector": networkDeviceInjector(),
	"ulimit-adjuster":         ulimitAdjuster(),
}

// samples returns the sample plugins, each with every NRI that it is built with. Without their
// source it returns none.
func samples() (all []plugin, err error) {
	for name, p := range ofNRI {
		built, err := filepath.Glob(filepath.Join(programs, name+"-v*"))
		if err != nil {
			return nil, err
		}
		for _, program := range built {
			all = append(all, p.of(name, program))
		}
	}
	return all, nil
}

// of is a sample plugin built with one NRI.
func (p plugin) of(name, program string) plugin {
	p.name = "NRI's " + strings.Replace(filepath.Base(program), name+"-", name+" ", 1)
	p.registers = "10-" + name
	layOut, args := p.command, []string{program, "-idx=10", "-name=" + name}
	p.command = func(n *node.Node) ([]string, error) {
		if layOut == nil {
			return args, nil
		}
		more, err := layOut(n)
		return append(args, more...), err
	}
	return p
}

// logger logs the events, and adds a variable to the environment of every container. Later versions
// of NRI have events that it cannot handle, so the events to log are named.
func logger() plugin {
	return plugin{
		gives: "variable",
		command: func(*node.Node) ([]string, error) {
			return []string{"-add-env=LOGGER", "-events=" + strings.Join(whole, ",")}, nil
		},
		has: func(_ *node.Node, _ string, pid int) error {
			environment, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "environ"))
			if err == nil && !strings.Contains("\x00"+string(environment), "\x00LOGGER=logger-pid-") {
				err = fmt.Errorf("process %d has no variable LOGGER", pid)
			}
			return err
		},
		tells: true,
	}
}

// deviceInjector adds the devices that an annotation describes.
func deviceInjector() plugin {
	return plugin{
		gives: "device",
		asks:  annotated("devices.nri.io/container.main", "[{path: "+adjusted+", type: c, major: 1, minor: 3}]"),
		has:   hasAdjusted,
	}
}

// files is the limit for a container: lower than any host's, so that it may be set everywhere.
const files = 123

// ulimitAdjuster sets the limits in an annotation.
func ulimitAdjuster() plugin {
	return plugin{
		gives: "limit",
		asks:  annotated("ulimits.nri.containerd.io/container.main", fmt.Sprintf("[{type: RLIMIT_NOFILE, soft: %d, hard: %d}]", files, files)),
		has: func(_ *node.Node, _ string, pid int) error {
			var limit unix.Rlimit
			if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit); err != nil {
				return fmt.Errorf("limits of process %d: %w", pid, err)
			}
			if limit.Cur != files || limit.Max != files {
				return fmt.Errorf("process %d may open %d to %d files, want %d", pid, limit.Cur, limit.Max, files)
			}
			return nil
		},
	}
}

// networkDeviceInjector moves the network devices in an annotation into the network namespace of
// the pod, and back when the pod is stopped.
func networkDeviceInjector() plugin {
	return plugin{
		gives: "network device",
		asks: func(pod string) map[string]string {
			return map[string]string{"netdevices.nri.containerd.io/pod": fmt.Sprintf("[{name: %s, new_name: %[1]s}]", link(pod))}
		},
		grant:    makeLink,
		has:      linkIsIn,
		returned: linkIsBack,
	}
}

// hooksFolder is the folder in which hook-injector looks for hooks.
const hooksFolder = "/etc/containers/oci/hooks.d"

// hook writes the state of the container, which has its PID, to a file.
const hook = `{
  "version": "1.0.0",
  "hook": {"path": "/bin/sh", "args": ["sh", "-c", "cat >> %s"], "env": ["PATH=/usr/bin:/bin"]},
  "when": {"annotations": {"^hookline.test/hook$": "^yes$"}},
  "stages": ["createRuntime"]
}`

// hookInjector adds OCI hooks to the containers that match a hook's configuration.
func hookInjector() plugin {
	written := func(n *node.Node) string { return filepath.Join(n.Folder(), "hooks") }
	return plugin{
		gives: "hook",
		asks:  annotated("hookline.test/hook", "yes"),
		command: func(n *node.Node) ([]string, error) {
			return nil, n.Within(func() error {
				if err := os.MkdirAll(hooksFolder, 0o755); err != nil {
					return err
				}
				return os.WriteFile(filepath.Join(hooksFolder, "write.json"), fmt.Appendf(nil, hook, written(n)), 0o644)
			})
		},
		has: func(n *node.Node, _ string, pid int) error {
			states, err := os.ReadFile(written(n))
			if err == nil && !strings.Contains(string(states), fmt.Sprintf(`"pid":%d,`, pid)) {
				err = fmt.Errorf("no hook was run for process %d", pid)
			}
			return err
		},
	}
}
