// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"
)

// folders are where systemd looks for units. The first one wins.
var folders = []string{
	"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system",
}

const (
	service = "containerd.service"
	dropIn  = "hookline.conf"
	// searched is systemd's own PATH of services.
	searched = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// A command is the command that a unit starts.
type command struct {
	program string // path
	args    string // as the unit has them
	path    string // PATH in its environment; empty if the unit sets none
}

// config is the path of the configuration that the command reads.
func (c command) config() string {
	args := strings.Fields(c.args)
	for i, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		if name != "-c" && name != "-config" && name != "--config" {
			continue
		}
		if given {
			return value
		}
		if i+1 < len(args) {
			return args[i+1]
		}
	}
	return "/etc/containerd/config.toml"
}

// distribution returns the command that systemd starts as containerd without our drop-in. after
// are the drop-ins that would come after ours.
func (n Node) distribution() (c command, after []string, err error) {
	var content []byte
	for _, folder := range folders {
		content, err = n.read(path.Join(folder, service))
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil, fmt.Errorf("%s has no %s of systemd: install the distribution's containerd first", n.Root, service)
	}
	if err != nil {
		return c, nil, err
	}
	if err := c.take(content); err != nil {
		return c, nil, fmt.Errorf("%s: %w", service, err)
	}
	dropIns, err := n.dropIns()
	if err != nil {
		return c, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(dropIns)) {
		if name == dropIn {
			continue
		}
		was := c
		if err := c.take(dropIns[name]); err != nil {
			return c, nil, fmt.Errorf("%s.d/%s: %w", service, name, err)
		}
		if name > dropIn && c != was {
			after = append(after, name)
		}
	}
	if !path.IsAbs(c.program) {
		return c, nil, fmt.Errorf("%s of %s starts no program with a path", service, n.Root)
	}
	return c, after, nil
}

// dropIns returns the drop-ins of the unit, by name. A file hides those of the same name in later
// folders.
func (n Node) dropIns() (map[string][]byte, error) {
	found := map[string][]byte{}
	for _, folder := range slices.Backward(folders) {
		dir, err := n.path(path.Join(folder, service+".d"))
		if err != nil {
			return nil, err
		}
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) != ".conf" {
				continue
			}
			if found[e.Name()], err = n.read(path.Join(folder, service+".d", e.Name())); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// take applies a file of the unit to the command.
func (c *command) take(content []byte) error {
	options, err := unit.DeserializeOptions(bytes.NewReader(content))
	if err != nil {
		return err
	}
	for _, o := range options {
		switch {
		case o.Section != "Service":
		case o.Name == "Environment":
			for _, v := range strings.Fields(o.Value) {
				if value, ok := strings.CutPrefix(strings.Trim(v, `"'`), "PATH="); ok {
					c.path = value
				}
			}
		case o.Name == "ExecStart" && strings.TrimSpace(o.Value) == "":
			c.program, c.args = "", ""
		case o.Name == "ExecStart":
			if c.program != "" {
				return errors.New("it starts more than one program")
			}
			program, args, _ := strings.Cut(strings.TrimSpace(o.Value), " ")
			if strings.HasPrefix(program, "@") {
				return errors.New("it starts the program under another name (@): a drop-in cannot keep that")
			}
			c.program, c.args = strings.TrimLeft(program, "-:+!"), strings.TrimSpace(args)
		}
	}
	return nil
}

// override returns the drop-in that starts the containerd of a folder in place of the
// distribution's, with the same arguments, and has it find the shim there. looks is whether the
// node's log says at each start if the distribution's containerd is newer.
func (c command) override(bin string, looks bool) []byte {
	search := c.path
	if search == "" {
		search = searched
	}
	start := strings.TrimSpace(path.Join(bin, "containerd") + " " + c.args)
	dropIn := "# Written by hookline-install, which removes it with undo.\n[Service]\n"
	if looks { // if it fails, containerd starts all the same
		dropIn += "ExecStartPre=-" + path.Join(bin, looker) + " check --newer\n"
	}
	return fmt.Appendf([]byte(dropIn), "ExecStart=\nExecStart=%s\nEnvironment=PATH=%s:%s\n", start, bin, search)
}
