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

// creationJournal keeps which plugins received the pods and containers that are being
// created. It is a folder with a file for each pod or container, named by its id, and a
// line in it for each plugin. A failure to write is logged, and fails nothing else.
//
// A kill of containerd leaves the files as they are. They are not synced: when the node
// dies, the containers die with it.
type creationJournal struct {
	dir string
	cut []creationNote // notes from before the start

	mu    sync.Mutex      // guards the field below
	begun map[string]bool // by id: whether there may be a file
}

// A creationNote says that a plugin received a pod or container.
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

// maxCreationFile is how many bytes of one file are read: enough for any number of plugins.
const maxCreationFile = 1 << 20

// CreationsIn sets the folder of the creation journal. It must outlive containerd, and
// need not outlive a boot.
func (c *Config) CreationsIn(stateDir string) *Config {
	c.creationsDir = filepath.Join(stateDir, "creations")
	return c
}

// noteCreations opens the journal, if missed events are kept.
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
		log.L.WithError(err).Error("failed to open the journal of creations: NRI plugins may not receive the end of a creation that a kill of containerd interrupts")
		return j
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		log.L.WithError(err).Error("failed to read the journal of creations: NRI plugins may not receive the end of interrupted creations")
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue // opening a pipe would wait for a writer
		}
		notes, err := readCreation(filepath.Join(dir, e.Name()))
		if err != nil {
			log.L.WithError(err).Warn("failed to read a note of an interrupted creation: NRI plugins may not receive its end")
		}
		j.cut = append(j.cut, notes...)
	}
	return j
}

// readCreation reads the notes of a pod or container, up to the first incomplete one.
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

// forgetCut drops the notes that a kill left, once their ends are kept as missed events.
// Creations that have begun since keep their notes. No two of them have the same id.
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
		log.L.WithError(err).WithField("plugin", plugin).Warn("failed to note a creation: an NRI plugin may not receive its end if containerd is killed now")
	}
	if !j.mayNote(n.id()) {
		j.remove(n.id()) // it has a record meanwhile
	}
}

// mayNote reports whether a pod or container is still being created. If so, it marks that
// there may be a file of it.
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
		log.L.WithError(err).Warn("failed to drop the note of a creation: NRI plugins may receive its end once more")
	}
}
