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
	// dropInFile is its path.
	dropInFile = "/etc/systemd/system/" + service + ".d/" + dropIn
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
	if file := c.option("config", "c"); file != "" {
		return file
	}
	return "/etc/containerd/config.toml"
}

// option returns the value of an option of the command, empty if it has none.
func (c command) option(names ...string) string {
	args := strings.Fields(c.args)
	for i, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		if !strings.HasPrefix(name, "-") || !slices.Contains(names, strings.TrimLeft(name, "-")) {
			continue
		}
		if given {
			return value
		}
		if i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
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
		if err := c.take(dropIns[name]); err != nil {
			return c, nil, fmt.Errorf("%s.d/%s: %w", service, name, err)
		}
		if name > dropIn && overrides(dropIns[name]) {
			after = append(after, name)
		}
	}
	if strings.ContainsAny(c.args, `$"'`) {
		return c, nil, fmt.Errorf("%s of %s starts containerd with variables or quotes (%s): write its options out, so that they can be compared", service, n.Root, c.args)
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
			if found[e.Name()], err = n.readDropIn(path.Join(folder, service+".d", e.Name())); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// readDropIn reads a drop-in. One that is a link to /dev/null is masked.
func (n Node) readDropIn(name string) ([]byte, error) {
	file, err := n.entry(name)
	if err != nil {
		return nil, err
	}
	if to, err := os.Readlink(file); err == nil && to == os.DevNull {
		return nil, nil
	}
	return n.read(name)
}

// overrides reports whether a drop-in that comes later undoes what ours sets, also if it sets the same
// as the unit.
func overrides(content []byte) bool {
	options, err := unit.DeserializeOptions(bytes.NewReader(content))
	if err != nil {
		return true
	}
	return slices.ContainsFunc(options, func(o *unit.UnitOption) bool {
		if o.Section != "Service" {
			return false
		}
		empty := strings.TrimSpace(o.Value) == ""
		switch o.Name {
		case "ExecStart", "EnvironmentFile":
			return true
		case "ExecStartPre":
			return empty
		case "Environment", "UnsetEnvironment":
			return empty || strings.Contains(o.Value, "PATH")
		}
		return false
	})
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
		case o.Name == "Environment" && strings.TrimSpace(o.Value) == "":
			c.path = ""
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
	dropIn := written + "[Service]\n"
	if looks { // if it fails, containerd starts all the same
		dropIn += "ExecStartPre=-" + path.Join(bin, looker) + " check --newer\n"
	}
	return fmt.Appendf([]byte(dropIn), "ExecStart=\nExecStart=%s\nEnvironment=PATH=%s:%s\n", start, bin, search)
}
