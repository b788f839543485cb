// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/containerd/log"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// creationJournal keeps which plugins were told of what is being created, in a folder
// with a file for each pod or container by its id. A file has a line for each plugin.
// It is in no one's way: what cannot be noted is logged.
//
// A kill of containerd leaves the files as they are. Nothing is synced: what is not on
// the disk when the node dies is of containers that died with it.
type creationJournal struct {
	dir string
	cut []creationNote // of before the start

	mu    sync.Mutex      // guards what follows
	begun map[string]bool // by id, and whether there is a file
}

// A creationNote says that a plugin was told of a pod or container.
type creationNote struct {
	Plugin    string `json:"plugin"`
	Pod       string `json:"pod"`
	Container string `json:"container,omitempty"`
}

func (n creationNote) id() string {
	if n.Container != "" {
		return n.Container
	}
	return n.Pod
}

// maxCreationFile bounds what is read of one file: more plugins than there may be.
const maxCreationFile = 1 << 20

// CreationsIn says in which folder it is kept what is being created. It has to outlive
// containerd, and need not outlive a boot.
func (c *Config) CreationsIn(stateDir string) *Config {
	c.creationsDir = filepath.Join(stateDir, "creations")
	return c
}

// noteCreations opens the journal, if ends are kept.
func (l *local) noteCreations() []nri.Option {
	if l.missed == nil || l.cfg.creationsDir == "" {
		return nil
	}
	l.creations = openCreationJournal(l.cfg.creationsDir)
	return []nri.Option{nri.WithCreationJournal(l.creations)}
}

// BeginCreation implements API.
func (l *local) BeginCreation(pod, container string) (end func()) {
	if l == nil || l.creations == nil {
		return func() {}
	}
	id := creationNote{Pod: pod, Container: container}.id()
	l.creations.begin(id)
	return func() { l.creations.end(id) }
}

func openCreationJournal(dir string) *creationJournal {
	j := &creationJournal{dir: dir, begun: make(map[string]bool)}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		log.L.WithError(err).Error("failed to note what is being created: NRI plugins may not be told the end of what containerd is killed in")
		return j
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		log.L.WithError(err).Error("failed to read what was being created: NRI plugins may not be told its end")
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue // to open a pipe would wait for a writer
		}
		notes, err := readCreation(filepath.Join(dir, e.Name()))
		if err != nil {
			log.L.WithError(err).Warn("failed to read what was being created: NRI plugins may not be told its end")
		}
		j.cut = append(j.cut, notes...)
	}
	return j
}

// readCreation reads the notes of a pod or container, up to one that was cut.
func readCreation(path string) (notes []creationNote, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCreationFile))
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var n creationNote
		if err := json.Unmarshal(line, &n); err != nil {
			return notes, fmt.Errorf("%s: %w", path, err)
		}
		if n.id() == filepath.Base(path) {
			notes = append(notes, n)
		}
	}
	return notes, nil
}

// Cut implements nri.CreationJournal.
func (j *creationJournal) Cut() iter.Seq2[string, [2]string] {
	return func(yield func(string, [2]string) bool) {
		for _, n := range j.cut {
			if !yield(n.Plugin, [2]string{n.Pod, n.Container}) {
				return
			}
		}
	}
}

// forgetCut drops what was left by a kill, once the plugins are owed its end. What is
// being created by now keeps its notes: nothing has the id of something before.
func (j *creationJournal) forgetCut() {
	if j == nil {
		return
	}
	entries, _ := os.ReadDir(j.dir)
	for _, e := range entries {
		j.mu.Lock()
		_, begun := j.begun[e.Name()]
		j.mu.Unlock()
		if !begun {
			j.remove(e.Name())
		}
	}
}

func (j *creationJournal) begin(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun[id] = false
}

func (j *creationJournal) end(id string) {
	j.mu.Lock()
	noted := j.begun[id]
	delete(j.begun, id)
	j.mu.Unlock()
	if noted {
		j.remove(id)
	}
}

// Sending implements nri.CreationJournal.
func (j *creationJournal) Sending(plugin, pod, container string) {
	n := creationNote{plugin, pod, container}
	if !j.mayNote(n.id()) {
		return
	}
	if err := j.note(n); err != nil {
		log.L.WithError(err).WithField("plugin", plugin).Warn("failed to note what is being created: an NRI plugin may not be told its end if containerd is killed now")
	}
	if !j.mayNote(n.id()) {
		j.remove(n.id()) // it was recorded meanwhile
	}
}

// mayNote says whether something is still being created, and that a file of it may be there.
func (j *creationJournal) mayNote(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, begun := j.begun[id]
	if begun {
		j.begun[id] = true
	}
	return begun
}

func (j *creationJournal) note(n creationNote) error {
	line, err := json.Marshal(n)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(j.dir, n.id()), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

func (j *creationJournal) remove(id string) {
	if err := os.RemoveAll(filepath.Join(j.dir, id)); err != nil {
		log.L.WithError(err).Warn("failed to drop the note of a creation: NRI plugins may be told its end once more")
	}
}
