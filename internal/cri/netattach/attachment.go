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
)

// An Attachment is what was kept of an ADD.
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

// list is the network as it was. It has no plugins if those were configured in
// files of their own.
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

// Kept is what libcni keeps in one folder.
type Kept struct {
	cni     *libcni.CNIConfig
	exec    invoke.Exec
	results string
}

// New returns what is kept in cacheDir, or if that is empty in libcni's own
// folder. Plugins are looked for in pluginDirs and run by exec, which has to
// return once its context ends, and to keep [types.Error] for what a plugin
// answered.
func New(pluginDirs []string, cacheDir string, exec invoke.Exec) *Kept {
	if cacheDir == "" {
		cacheDir = libcni.CacheDir
	}
	exec = tolerant{exec}
	return &Kept{
		cni:     libcni.NewCNIConfigWithCacheDir(pluginDirs, cacheDir, exec),
		exec:    exec,
		results: filepath.Join(cacheDir, "results"),
	}
}

// Attachments returns what is kept of the container, the newest first. Files
// that should tell of it and cannot be read are returned by their paths.
func (k *Kept) Attachments(id string) (kept []Attachment, unreadable []string, err error) {
	if id == "" {
		// To libcni it would mean any.
		return nil, nil, fmt.Errorf("attachments of no container: %w", errdefs.ErrInvalidArgument)
	}
	// Before libcni looks, so that what a DEL removes meanwhile is not missed.
	made, err := k.files(id)
	if err != nil {
		return nil, nil, fmt.Errorf("attachments of %s: %w", id, err)
	}
	attachments, err := k.cni.GetCachedAttachments(id)
	if err != nil {
		return nil, nil, fmt.Errorf("attachments of %s: %w", id, err)
	}
	for _, a := range attachments {
		one := attachmentOf(a)
		name := filepath.Base(k.file(one, id))
		one.made = made[name]
		kept = append(kept, one)
		delete(made, name)
	}
	slices.SortFunc(kept, func(a, b Attachment) int {
		return cmp.Or(b.made.Compare(a.made), cmp.Compare(b.IfName, a.IfName), cmp.Compare(b.Network, a.Network))
	})
	for name := range made {
		if path := filepath.Join(k.results, name); !elsewhere(path, id) {
			unreadable = append(unreadable, path)
		}
	}
	slices.Sort(unreadable)
	return kept, unreadable, nil
}

// file is where an attachment of the container is kept.
func (k *Kept) file(a Attachment, id string) string {
	return filepath.Join(k.results, a.Network+"-"+id+"-"+a.IfName)
}

// files returns the names of the files for the container, and when they were
// written.
func (k *Kept) files(id string) (map[string]time.Time, error) {
	entries, err := os.ReadDir(k.results)
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

// elsewhere tells whether a file that has the container in its name is gone,
// or tells of another one.
func elsewhere(path, id string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	var kept struct {
		ContainerID string `json:"containerId"`
	}
	return json.Unmarshal(text, &kept) == nil && kept.ContainerID != "" && kept.ContainerID != id
}
