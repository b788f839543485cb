// SPDX-License-Identifier: Apache-2.0

package netattach

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/invoke"

	"github.com/hookline-nri/hookline/internal/cri/netconf"
)

// An Attachment is libcni's cached attachment of an ADD.
type Attachment struct {
	Network, IfName string
	// Config is the network's configuration, byte for byte.
	Config []byte

	made           time.Time
	args           [][2]string
	capabilityArgs map[string]any
}

func attachmentOf(a *libcni.NetworkAttachment) Attachment {
	return Attachment{
		Network:        a.Network,
		IfName:         a.IfName,
		Config:         a.Config,
		args:           a.CniArgs,
		capabilityArgs: a.CapabilityArgs,
	}
}

// list is the network's configuration at the ADD. It has no plugins if those were
// configured in files of their own.
func (a Attachment) list() (*libcni.NetworkConfigList, error) {
	list, err := libcni.NetworkConfFromBytes(a.Config)
	if err != nil || len(list.Plugins) > 0 {
		return list, err
	}
	if plugin, err := libcni.NetworkPluginConfFromBytes(a.Config); err == nil { // a file of one plugin
		list.Plugins = []*libcni.PluginConfig{plugin}
	}
	return list, nil
}

// Cache is libcni's cache of attachments in one folder.
type Cache struct {
	cni     *libcni.CNIConfig
	exec    invoke.Exec
	results string
}

// New returns the cache in cacheDir, or if that is empty in libcni's own folder.
// Plugins are looked for in pluginDirs and run by exec, which has to return once
// its context ends, and to return a [types.Error] only if a plugin answered it.
func New(pluginDirs []string, cacheDir string, exec invoke.Exec) *Cache {
	if cacheDir == "" {
		cacheDir = libcni.CacheDir
	}
	exec = tolerant{exec}
	return &Cache{
		cni:     libcni.NewCNIConfigWithCacheDir(pluginDirs, cacheDir, exec),
		exec:    exec,
		results: filepath.Join(cacheDir, "results"),
	}
}

// Attachments returns the cached attachments of the container, the newest first,
// and the paths of those that cannot be read.
func (c *Cache) Attachments(id string) (cached []Attachment, unreadable []string, err error) {
	if id == "" {
		// To libcni an empty id means all containers.
		return nil, nil, fmt.Errorf("attachments of no container: %w", errdefs.ErrInvalidArgument)
	}
	// Listed before libcni does, so that a file which a DEL removes meanwhile is not taken for
	// unreadable.
	made, err := c.files(id)
	if err != nil {
		return nil, nil, fmt.Errorf("attachments of %s: %w", id, err)
	}
	attachments, err := c.cni.GetCachedAttachments(id)
	if err != nil {
		return nil, nil, fmt.Errorf("attachments of %s: %w", id, err)
	}
	for _, a := range attachments {
		one := attachmentOf(a)
		name := filepath.Base(c.file(one, id))
		one.made = made[name]
		cached = append(cached, one)
		delete(made, name)
	}
	slices.SortFunc(cached, func(a, b Attachment) int {
		return cmp.Or(b.made.Compare(a.made), cmp.Compare(b.IfName, a.IfName), cmp.Compare(b.Network, a.Network))
	})
	for name := range made {
		if path := filepath.Join(c.results, name); !elsewhere(path, id) {
			unreadable = append(unreadable, path)
		}
	}
	slices.Sort(unreadable)
	return cached, unreadable, nil
}

// file is the path of a cached attachment of the container.
func (c *Cache) file(a Attachment, id string) string {
	return filepath.Join(c.results, a.Network+"-"+id+"-"+a.IfName)
}

// ofNetworks returns a container's files without that of its loopback.
func ofNetworks(paths []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return strings.HasSuffix(path, "-"+id+"-"+netconf.Loopback) })
}

// files returns the names of the container's files, and when they were written.
func (c *Cache) files(id string) (map[string]time.Time, error) {
	entries, err := os.ReadDir(c.results)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	files := map[string]time.Time{}
	for _, e := range entries {
		if !strings.Contains(e.Name(), "-"+id+"-") {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files[e.Name()] = info.ModTime()
	}
	return files, nil
}

// elsewhere reports whether a file that has the container in its name is gone, or is of another
// container.
func elsewhere(path, id string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	var cached struct {
		ContainerID string `json:"containerId"`
	}
	return json.Unmarshal(text, &cached) == nil && cached.ContainerID != "" && cached.ContainerID != id
}
