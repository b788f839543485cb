// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnpackWhatWasWritten(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "hall")
	require.NoError(t, os.WriteFile(from, []byte("a program"), 0o600))
	name := filepath.Join(dir, "made.tar.gz")
	require.NoError(t, Write(name, []File{{Name: "bin/hall", Mode: 0o755, From: from}, {Name: "README", Mode: 0o644, From: from}}, time.Unix(1, 0)))
	bin := t.TempDir()
	require.NoError(t, Unpack(name, bin))
	entries, err := os.ReadDir(bin)
	require.NoError(t, err)
	require.Len(t, entries, 1, "only programs are unpacked")
	content, err := os.ReadFile(filepath.Join(bin, "hall"))
	require.NoError(t, err)
	assert.Equal(t, "a program", string(content))
}

// An archive of others writes nothing outside the folder.
func TestUnpackOddArchives(t *testing.T) {
	for _, name := range []string{"../bin/out", "bin/../../out", "/bin/out", "bin/sub/out"} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		w := tar.NewWriter(z)
		require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: 1, Mode: 0o755}))
		_, err := w.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, z.Close())
		dir := t.TempDir()
		file := filepath.Join(dir, "odd.tar.gz")
		require.NoError(t, os.WriteFile(file, packed.Bytes(), 0o600))
		bin := filepath.Join(dir, "a", "b")
		require.NoError(t, os.MkdirAll(bin, 0o755))
		_ = Unpack(file, bin)
		out, err := exec.CommandContext(t.Context(), "find", dir, "-type", "f", "!", "-name", "odd.tar.gz").Output()
		require.NoError(t, err)
		assert.Empty(t, string(out), name)
	}
}

func TestListed(t *testing.T) {
	dir := t.TempDir()
	one, other := filepath.Join(dir, "one"), filepath.Join(dir, "one.more")
	require.NoError(t, os.WriteFile(one, []byte("1"), 0o600))
	require.NoError(t, os.WriteFile(other, []byte("2"), 0o600))
	sums, err := Sums(other, one)
	require.NoError(t, err)
	want, err := Sum(one)
	require.NoError(t, err)
	listed, err := Listed([]byte(sums), "one")
	require.NoError(t, err)
	assert.Equal(t, want, listed)
	_, err = Listed([]byte(sums), "two")
	require.ErrorContains(t, err, "two is not in the list of checksums")
}
