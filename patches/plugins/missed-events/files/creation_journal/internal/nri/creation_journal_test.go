// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cutAfter returns what the next start finds of a journal, once it was killed.
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
	j.Sending("10-a", "p3", "") // which has a record
	j.end("c2")                 // it has one, too
	want := [][3]string{{"10-a", "p1", "c1"}, {"20-b", "p1", "c1"}, {"10-a", "p2", ""}}
	assert.Equal(t, want, cutAfter(t, dir))

	next := openCreationJournal(dir)
	next.begin("c3")
	next.Sending("10-a", "p1", "c3")
	next.forgetCut()
	assert.Equal(t, [][3]string{{"10-a", "p1", "c3"}}, cutAfter(t, dir), "what was cut is owed by then, and what is being created is not cut")
	next.end("c3")
	assert.Empty(t, cutAfter(t, dir))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

// A note that was cut itself, or is none, keeps no others from being read.
func TestOddNotesOfCreations(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"c1":    `{"plugin":"10-a","pod":"p1","container":"c1"}` + "\n" + `{"plugin":"20-`,
		"c2":    `{"plugin":"10-a","pod":"p1","container":"c9"}` + "\n", // of another
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

// Where nothing can be noted, nothing is in the way.
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
