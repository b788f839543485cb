// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/renameio/v2"
)

// A record is what a plugin holds for one pod.
type record[T any] struct {
	Taken bool `json:"taken"` // false while Take runs, and if it has failed: then Value is zero
	Value T    `json:"value"`
}

// records are the files of a folder that end in .json, each named by the id of a pod. Other files are left
// alone.
type records[T any] struct {
	name   string
	folder *os.File // locked by the process that uses it
}

const extension = ".json"

// openRecords makes the folder, and locks it.
func openRecords[T any](ctx context.Context, name string) (records[T], error) {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return records[T]{}, fmt.Errorf("make the folder for the records of pods: %w", err)
	}
	folder, err := os.Open(name)
	if err != nil {
		return records[T]{}, fmt.Errorf("open the folder for the records of pods: %w", err)
	}
	r := records[T]{name, folder}
	if err := r.lock(ctx); err != nil {
		return r, errors.Join(fmt.Errorf("lock the records of pods in %s, which another process may use: %w", name, err), r.close())
	}
	if err := r.check(); err != nil {
		return r, errors.Join(err, r.close())
	}
	return r, nil
}

// lock waits until no other process has the folder. The kernel ends a lock with its process.
func (r records[T]) lock(ctx context.Context) error {
	for pauses := newPauses(longestPause); ; sleep(ctx, pauses.NextBackOff()) {
		err := syscall.Flock(int(r.folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
	}
}

// close lets another process use the folder.
func (r records[T]) close() error { return r.folder.Close() }

// check reads all records, and removes what a process has left that was killed while it wrote.
func (r records[T]) check() error {
	ids, err := r.list()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, _, err := r.read(id); err != nil {
			return err
		}
	}
	unfinished, err := r.files(func(name string) bool { return name[0] == '.' && strings.Contains(name, extension) })
	if err != nil {
		return err
	}
	for _, name := range unfinished {
		if err := os.Remove(filepath.Join(r.name, name)); err != nil {
			return fmt.Errorf("remove an unfinished record of a pod: %w", err)
		}
	}
	return nil
}

// files returns the names of files, without folders and links.
func (r records[T]) files(wanted func(name string) bool) (names []string, err error) {
	entries, err := os.ReadDir(r.name)
	if err != nil {
		return nil, fmt.Errorf("list the records of pods: %w", err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() && wanted(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// list returns the ids of the pods that have a record.
func (r records[T]) list() ([]string, error) {
	ids, err := r.files(func(name string) bool {
		id, ok := strings.CutSuffix(name, extension)
		return ok && valid(id)
	})
	for i, name := range ids {
		ids[i] = strings.TrimSuffix(name, extension)
	}
	return ids, err
}

// read returns the record of a pod, if it exists. A damaged one counts as one whose Take has not returned,
// so that the pod is freed.
func (r records[T]) read(id string) (one record[T], exists bool, err error) {
	if !valid(id) {
		return one, false, nil
	}
	content, err := os.ReadFile(r.file(id))
	if errors.Is(err, fs.ErrNotExist) {
		return one, false, nil
	}
	if err == nil && !json.Valid(content) {
		return one, true, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &one)
	}
	if err != nil {
		return record[T]{}, true, fmt.Errorf("pod %s: read the record of what the plugin holds: %w", id, err)
	}
	return one, true, nil
}

func (r records[T]) write(id string, one record[T]) error {
	if !valid(id) {
		return fmt.Errorf("pod %.64q: its id cannot be the name of a file", id)
	}
	content, err := json.Marshal(one)
	if err != nil {
		return fmt.Errorf("pod %s: encode what the plugin holds: %w", id, err)
	}
	if err := renameio.WriteFile(r.file(id), content, 0o600, renameio.WithTempDir(r.name)); err != nil {
		return fmt.Errorf("pod %s: record what the plugin holds: %w", id, err)
	}
	if err := r.folder.Sync(); err != nil { // what take has got may last, too, if the node loses its power
		return fmt.Errorf("pod %s: keep the record of what the plugin holds: %w", id, err)
	}
	return nil
}

func (r records[T]) remove(id string) error {
	if err := os.Remove(r.file(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("pod %s: remove its record: %w", id, err)
	}
	return nil
}

func (r records[T]) file(id string) string { return filepath.Join(r.name, id+extension) }

// longestID leaves room for what an unfinished record has behind its id: a name has 255 bytes at most.
const longestID = 200

// valid reports whether an id can be the name of a file. It comes from outside: it must not lead out of
// the folder, and a dot is for files that are not records.
func valid(id string) bool {
	return id != "" && len(id) <= longestID && id[0] != '.' && !strings.ContainsAny(id, "/\x00")
}
