// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cutAfter returns the notes that the next start finds after a kill.
func cutAfter(t *testing.T, dir string) (all [][3]string) {
	t.Helper()
	for plugin, ids := range openCreationJournal(dir).Cut() {
		all = append(all, [3]string{plugin, ids[0], ids[1]})
	}
	return all
}

func TestCreationsThatWereCut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "creations")
	j := openCreationJournal(dir)
	j.begin("c1")
	j.begin("c2")
	j.begin("p2")
	j.Sending("10-a", "p1", "c1")
	j.Sending("20-b", "p1", "c1")
	j.Sending("10-a", "p1", "c2")
	j.Sending("10-a", "p2", "")
	j.Sending("10-a", "p3", "") // it has a record
	j.end("c2")                 // it has a record, too
	want := [][3]string{{"10-a", "p1", "c1"}, {"20-b", "p1", "c1"}, {"10-a", "p2", ""}}
	assert.Equal(t, want, cutAfter(t, dir))

	next := openCreationJournal(dir)
	next.begin("c3")
	next.Sending("10-a", "p1", "c3")
	next.forgetCut()
	assert.Equal(t, [][3]string{{"10-a", "p1", "c3"}}, cutAfter(t, dir), "the interrupted creations are kept as missed events by then, and a new creation is not interrupted")
	next.end("c3")
	assert.Empty(t, cutAfter(t, dir))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

// An incomplete note, or a file without notes, does not prevent that other notes are read.
func TestOddNotesOfCreations(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"c1":    `{"plugin":"10-a","pod":"p1","container":"c1"}` + "\n" + `{"plugin":"20-`,
		"c2":    `{"plugin":"10-a","pod":"p1","container":"c9"}` + "\n", // of another container
		"c3":    "\x00\x00",
		"empty": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	assert.Equal(t, [][3]string{{"10-a", "p1", "c1"}}, cutAfter(t, dir))
	openCreationJournal(dir).forgetCut()
	assert.Empty(t, cutAfter(t, dir))
}

// A journal that cannot be written fails nothing else.
func TestCreationsWithoutAFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	j := openCreationJournal(filepath.Join(file, "creations"))
	j.begin("c1")
	j.Sending("10-a", "p1", "c1")
	j.end("c1")
	j.forgetCut()
	assert.Empty(t, cutAfter(t, j.dir))
}
