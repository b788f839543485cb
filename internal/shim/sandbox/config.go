// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// config has what a sandbox takes from its PodSandboxConfig (k8s.io/cri-api, runtime/v1). It is read
// field by field: CRI's own package brings gRPC along, which would be half of the program.
type config struct {
	hostname string
	dns      *dns // nil: as on the node
	sysctls  map[string]string
	cgroup   string // that of the pod, in which the ones of its containers are

	network, pid, ipc mode
	users             bool // it has a user namespace of its own
}

// dns is what resolv.conf(5) has.
type dns struct{ servers, searches, options []string }

// mode is CRI's NamespaceMode.
type mode uint64

const (
	ofPod  mode = 0
	ofNode mode = 2
)

// readConfig reads an encoded PodSandboxConfig.
func readConfig(wire []byte) (config, error) {
	c := config{sysctls: map[string]string{}}
	err := read(wire, fields{
		2: text(&c.hostname),
		4: func(f field) error {
			if c.dns == nil {
				c.dns = &dns{}
			}
			return read(f.content, fields{1: list(&c.dns.servers), 2: list(&c.dns.searches), 3: list(&c.dns.options)})
		},
		8: message(fields{ // LinuxPodSandboxConfig
			1: text(&c.cgroup),
			2: message(fields{ // LinuxSandboxSecurityContext
				1: message(fields{ // NamespaceOption
					1: number(&c.network), 2: number(&c.pid), 3: number(&c.ipc), 5: c.readUsers,
				}),
			}),
			3: pair(c.sysctls),
		}),
	})
	return c, err
}

func (c *config) readUsers(f field) error {
	of := ofPod
	err := read(f.content, fields{1: number(&of)})
	c.users = of != ofNode
	return err
}

// errProcess is the answer for a pod that needs what only a process can hold.
var errProcess = errors.New("a pod that shares its PID namespace or has a user namespace needs a process: make its sandbox with podsandbox")

// needsProcess returns an error if the namespaces of a pod cannot be held by mounts alone.
func (c *config) needsProcess() error {
	if c.pid == ofPod || c.users {
		return errProcess
	}
	return nil
}

// A field of an encoded message is a number, or has content.
type field struct {
	kind    protowire.Type
	number  uint64
	content []byte
}

// fields are the fields of a message that are read, by their numbers.
type fields map[protowire.Number]func(field) error

// read reads the known fields of an encoded message.
func read(wire []byte, known fields) error {
	for len(wire) > 0 {
		id, kind, size := protowire.ConsumeTag(wire)
		if size < 0 {
			return protowire.ParseError(size)
		}
		wire = wire[size:]
		if size = protowire.ConsumeFieldValue(id, kind, wire); size < 0 {
			return protowire.ParseError(size)
		}
		if use := known[id]; use != nil {
			f := field{kind: kind}
			switch kind {
			case protowire.VarintType:
				f.number, _ = protowire.ConsumeVarint(wire)
			case protowire.BytesType:
				f.content, _ = protowire.ConsumeBytes(wire)
			}
			if err := use(f); err != nil {
				return err
			}
		}
		wire = wire[size:]
	}
	return nil
}

func text(to *string) func(field) error {
	return func(f field) error { *to = string(f.content); return f.is(protowire.BytesType) }
}

func list(to *[]string) func(field) error {
	return func(f field) error { *to = append(*to, string(f.content)); return f.is(protowire.BytesType) }
}

func number(to *mode) func(field) error {
	return func(f field) error { *to = mode(f.number); return f.is(protowire.VarintType) }
}

func message(known fields) func(field) error {
	return func(f field) error {
		if err := f.is(protowire.BytesType); err != nil {
			return err
		}
		return read(f.content, known)
	}
}

// pair reads an entry of a map.
func pair(to map[string]string) func(field) error {
	return func(f field) error {
		var key, value string
		if err := message(fields{1: text(&key), 2: text(&value)})(f); err != nil {
			return err
		}
		to[key] = value
		return nil
	}
}

func (f field) is(kind protowire.Type) error {
	if f.kind != kind {
		return fmt.Errorf("field has wire type %d, want %d", f.kind, kind)
	}
	return nil
}
