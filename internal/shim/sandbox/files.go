// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// shmSize is the size of a pod's shared memory in bytes, as with a pause container.
const shmSize = 64 << 20

// The paths of the files that the containers of a pod share.
const (
	etcHostname = "/etc/hostname"
	etcHosts    = "/etc/hosts"
	resolvConf  = "/etc/resolv.conf"
	devShm      = "/dev/shm"
)

// onDisk returns the folder of a bundle for files that containers write to. The bundle itself is in
// memory, which is no tenant's to fill.
func onDisk(bundle string) (string, error) {
	folder, err := filepath.EvalSymlinks(filepath.Join(bundle, "work"))
	if err != nil {
		return "", fmt.Errorf("find the folder on disk of bundle %s: %w", bundle, err)
	}
	return folder, nil
}

// writeFiles writes the files of a pod into a folder.
func writeFiles(folder, hostname string, dns *dns) error {
	hosts, err := os.ReadFile(etcHosts)
	if err != nil {
		return err
	}
	var resolv []byte
	if dns != nil {
		resolv = resolverFile(*dns)
	} else if resolv, err = os.ReadFile(resolvConf); err != nil {
		return err
	}
	for path, content := range map[string][]byte{etcHostname: []byte(hostname + "\n"), etcHosts: hosts, resolvConf: resolv} {
		path = filepath.Join(folder, filepath.Base(path))
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
		if err := os.Chmod(path, 0o644); err != nil { // a container's user reads it, whatever the umask
			return err
		}
	}
	return nil
}

// resolverFile returns the content of a resolv.conf(5).
func resolverFile(dns dns) []byte {
	var b bytes.Buffer
	line := func(key string, values ...string) {
		if len(values) > 0 {
			fmt.Fprintf(&b, "%s %s\n", key, strings.Join(values, " "))
		}
	}
	line("search", dns.searches...)
	for _, server := range dns.servers {
		line("nameserver", server)
	}
	line("options", dns.options...)
	return b.Bytes()
}

// mountShm mounts the shared memory of a pod in a folder. CRI labels it for SELinux.
func mountShm(folder string) error {
	path := filepath.Join(folder, filepath.Base(devShm))
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	options := fmt.Sprintf("mode=1777,size=%d", shmSize)
	if err := unix.Mount("shm", path, "tmpfs", unix.MS_NOEXEC|unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount shared memory on %s: %w", path, err)
	}
	return nil
}

// shared returns the mounts of a container that shares the files in a folder and the shared memory
// of a bundle. With the node's IPC namespace it has the node's shared memory.
func shared(folder, bundle string, ownIPC bool) []specs.Mount {
	bind := func(source, destination string, options ...string) specs.Mount {
		return specs.Mount{Source: source, Destination: destination, Type: "bind", Options: append([]string{"rbind"}, options...)}
	}
	var mounts []specs.Mount
	for _, path := range []string{etcHostname, etcHosts, resolvConf} {
		mounts = append(mounts, bind(filepath.Join(folder, filepath.Base(path)), path))
	}
	if !ownIPC {
		return append(mounts, bind(devShm, devShm))
	}
	return append(mounts, bind(filepath.Join(bundle, filepath.Base(devShm)), devShm, "nosuid", "noexec", "nodev"))
}

// Remove unmounts all that a sandbox has mounted in its bundle. Its files go with the bundle.
func Remove(bundle string) error {
	return errors.Join(unmount(filepath.Join(bundle, filepath.Base(devShm))), unpin(filepath.Join(bundle, nsFolder)))
}
