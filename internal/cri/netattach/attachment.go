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

// Kept is what libcni keeps in one folder.
type Kept struct {
	cni     *libcni.CNIConfig
	results string
}

// New returns what is kept in cacheDir, or if that is empty in libcni's own
// folder. Plugins are looked for in pluginDirs and run by exec, or if that is
// nil by libcni's own.
func New(pluginDirs []string, cacheDir string, exec invoke.Exec) *Kept {
	if cacheDir == "" {
		cacheDir = libcni.CacheDir
	}
	return &Kept{
		cni:     libcni.NewCNIConfigWithCacheDir(pluginDirs, cacheDir, exec),
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
		name := a.Network + "-" + id + "-" + a.IfName
		kept = append(kept, Attachment{
			Network:        a.Network,
			IfName:         a.IfName,
			Config:         a.Config,
			made:           made[name],
			args:           a.CniArgs,
			capabilityArgs: a.CapabilityArgs,
		})
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
