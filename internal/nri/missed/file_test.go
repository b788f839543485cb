// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// works checks that a store keeps an end, whatever the state of its file.
func (k *kept) works(t *testing.T) {
	t.Helper()
	k.Joined("10-a", wants)
	k.miss("10-a", "StopPodSandbox p9")
	k.Sync()
	require.True(t, slices.Contains(k.misses(t, "10-a"), "StopPodSandbox p9"))
}

func TestBrokenFileIsReplaced(t *testing.T) {
	for name, breaks := range map[string]func(t *testing.T, path string){
		"no database":      func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("nonsense ", 10000))) },
		"of two kilobytes": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 2049)) },
		"of a page":        func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 4096)) },
		"cut off":          func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 9000)) },
		"garbled":          garble,
		"an end that is none": func(t *testing.T, path string) {
			db, err := bolt.Open(path, 0o600, nil)
			require.NoError(t, err)
			require.NoError(t, db.Update(func(tx *bolt.Tx) error {
				return tx.Bucket([]byte(namesKey)).Bucket([]byte("10-a")).Bucket([]byte(missedKey)).Put([]byte("number"), []byte("x"))
			}))
			require.NoError(t, db.Close())
		},
		"an end that is not there": func(t *testing.T, path string) {
			db, err := bolt.Open(path, 0o600, nil)
			require.NoError(t, err)
			require.NoError(t, db.Update(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte(endsKey)) }))
			require.NoError(t, db.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t)
			k.Joined("10-a", wants)
			for i := range 200 {
				k.miss("10-a", fmt.Sprintf("StopPodSandbox p%d", i))
			}
			k.Close()
			breaks(t, k.path)
			k.open(Options{})
			require.Len(t, k.failures(), 1)
			require.Zero(t, k.Bytes())
			k.works(t)
			k.reopen(Options{})
			k.works(t)
			require.Len(t, k.failures(), 1, "the new file is as good as any")
			requireAlone(t, k.path)
		})
	}
}

// garble spoils all of a file but the first two pages, which are sums of themselves.
func garble(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for i := 2 * os.Getpagesize(); i < len(data); i++ {
		data[i] = byte(random.Uint32())
	}
	write(t, path, data)
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

func TestFileThatCannotBeOpened(t *testing.T) {
	for name, hinder := range map[string]func(t *testing.T, path string){
		"locked": func(t *testing.T, path string) {
			db, err := bolt.Open(path, 0o600, nil)
			require.NoError(t, err)
			t.Cleanup(func() { db.Close() })
		},
		"a folder": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Mkdir(path, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) { worksWithout(t, hinder) })
	}
}

// worksWithout checks that a store works whose file cannot be opened.
func worksWithout(t *testing.T, hinder func(t *testing.T, path string)) {
	t.Helper()
	k := newKept(t)
	k.Close()
	hinder(t, k.path)
	k.open(Options{})
	require.Len(t, k.failures(), 1)
	t.Log(k.failures()[0])
	k.works(t)
}

// requireAlone checks that the file is alone in its folder.
func requireAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// A file that turns out to be broken while it is written is replaced, and nothing is lost.
func TestFileThatBreaksIsReplaced(t *testing.T) {
	k := newKept(t)
	k.works(t)
	garble(t, k.path)
	k.miss("10-a", "RemovePodSandbox p9")
	k.Sync()
	require.Len(t, k.failures(), 1)
	require.ErrorIs(t, k.failures()[0], errBroken)
	k.reopen(Options{})
	require.Equal(t, []string{"StopPodSandbox p9", "RemovePodSandbox p9"}, k.misses(t, "10-a"))
	require.Len(t, k.failures(), 1)
	requireAlone(t, k.path)
}

// strikes has the time pass after which a file is tidied.
func (k *kept) strikes() {
	k.Sync()
	k.Store.mu.Lock()
	defer k.Store.mu.Unlock()
	k.file.clock.Reset(0)
}

// tidied has a file tidied now.
func (k *kept) tidied(t *testing.T) {
	t.Helper()
	k.strikes()
	require.Eventually(t, func() bool {
		k.Store.mu.Lock()
		defer k.Store.mu.Unlock()
		return !k.file.tidies && !k.file.whole && k.file.writing == nil
	}, time.Minute, time.Millisecond)
}

// An end that was delivered is not in the file any more, not even in its free pages.
func TestDeliveredEndsAreErased(t *testing.T) {
	for name, ends := range map[string]func(k *kept, t *testing.T){
		"at once":           (*kept).tidied,
		"when it is closed": func(k *kept, _ *testing.T) { k.Close() },
		"when it was killed": func(k *kept, t *testing.T) {
			k.Sync()
			data, err := os.ReadFile(k.path)
			require.NoError(t, err)
			k.Close()
			write(t, k.path, data)
			k.open(Options{})
			k.tidied(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t)
			k.tidied(t)
			k.goes("10-a")
			k.Miss("10-a", "StopPodSandbox", [2]string{"p1"}, "the secret")
			k.Sync()
			require.True(t, k.fileHas(t, "the secret"))
			k.Delivered("10-a", "StopPodSandbox", [2]string{"p1"})
			k.Sync()
			require.True(t, k.fileHas(t, "the secret"), "it is in a page that is free")
			ends(k, t)
			require.False(t, k.fileHas(t, "the secret"))
			requireAlone(t, k.path)
			info, err := os.Stat(k.path)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode())
			k.reopen(Options{})
			require.Equal(t, []string{"10-a"}, k.has())
			require.Empty(t, k.failures())
		})
	}
}

func (k *kept) fileHas(t *testing.T, text string) bool {
	t.Helper()
	data, err := os.ReadFile(k.path)
	require.NoError(t, err)
	return bytes.Contains(data, []byte(text))
}

// A file that was large once does not stay large.
func TestFileShrinks(t *testing.T) {
	k := newKept(t)
	k.goes("10-a")
	for i := range 1000 {
		k.Miss("10-a", "StopPodSandbox", [2]string{fmt.Sprint("p", i)}, strings.Repeat("-", 10_000))
	}
	k.tidied(t)
	require.Greater(t, k.size(t), int64(9_000_000))
	require.Less(t, k.size(t), int64(13_000_000), "the ends that are kept fill most of the file")
	for i := range 900 {
		k.Delivered("10-a", "StopPodSandbox", [2]string{fmt.Sprint("p", i)})
	}
	k.tidied(t)
	require.Less(t, k.size(t), int64(2_200_000))
	k.reopen(Options{})
	require.Len(t, slices.Collect(k.Missed("10-a")), 100)
	require.Empty(t, k.failures())
}

func (k *kept) size(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(k.path)
	require.NoError(t, err)
	return info.Size()
}

// On a system that renames no open files, a file is replaced while closed.
func TestSwapClosed(t *testing.T) {
	w := writer{path: filepath.Join(t.TempDir(), "missed.db")}
	var err error
	w.db, err = openFile(w.path)
	require.NoError(t, err)
	require.NoError(t, put(w.db, []change{{bucket: []string{"former"}, key: "k", value: []byte("v")}}))
	other, err := openFile(beside(w.path))
	require.NoError(t, err)
	require.NoError(t, put(other, []change{{bucket: []string{"next"}, key: "k", value: []byte("v")}}))
	require.NoError(t, w.swapClosed(other, beside(w.path)))
	requireAlone(t, w.path)
	require.NoError(t, w.db.View(func(tx *bolt.Tx) error {
		require.NotNil(t, tx.Bucket([]byte("next")))
		require.Nil(t, tx.Bucket([]byte("former")))
		return nil
	}))
	require.NoError(t, w.db.Close())
}

// The new file of a process that was killed while it wrote it is removed.
func TestUnfinishedFileIsRemoved(t *testing.T) {
	k := newKept(t)
	k.works(t)
	k.Close()
	write(t, k.path+".new", []byte("half of it"))
	k.open(Options{})
	requireAlone(t, k.path)
	write(t, k.path+".new", []byte("half of it"))
	k.works(t)
	k.Delivered("10-a", "StopPodSandbox", [2]string{"p9"})
	k.tidied(t)
	requireAlone(t, k.path)
	require.Empty(t, k.failures())
	k.Close()
	write(t, k.path+".new", []byte("half of it"))
	require.NoError(t, Remove(k.path))
	require.NoFileExists(t, k.path)
	require.NoFileExists(t, k.path+".new")
	require.NoError(t, Remove(k.path))
}

// Panics of bbolt and faults of the kernel over a broken file become errors, and do not end the
// process.
func TestFaultsAreErrors(t *testing.T) {
	require.ErrorIs(t, guarded(func() error { panic("page 7 already freed") }), errBroken)
	k := newKept(t)
	k.works(t)
	k.Close()
	db, err := openFile(k.path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(k.path, 0))
	err = guarded(func() error { return k.load(db) })
	require.ErrorIs(t, err, errBroken)
}

// A process that waits for a file which its owner replaces opens the new one.
func TestWaitingForAReplacedFile(t *testing.T) {
	k := newKept(t)
	k.works(t)
	second := make(chan *Store)
	go func() {
		second <- Open(Options{Path: k.path, Patience: time.Minute, Failed: func(err error) { t.Error(err) }})
	}()
	for range 3 { // it waits for one of them
		k.Delivered("10-a", "StopPodSandbox", [2]string{"p9"})
		k.tidied(t)
		k.works(t)
	}
	k.Close()
	s := <-second
	require.True(t, s.Miss("10-a", "RemovePodSandbox", [2]string{"p9"}, "request of RemovePodSandbox p9"))
	s.Sync()
	s.Close()
	k.open(Options{})
	require.Equal(t, []string{"StopPodSandbox p9", "RemovePodSandbox p9"}, k.misses(t, "10-a"))
}

// The changes that wait for a file that does not answer are bounded as the store is.
func TestStuckFileTakesNoMemory(t *testing.T) {
	k := newKept(t)
	k.reopen(Options{Bytes: 1 << 20})
	k.works(t)
	tx, err := k.file.db.Begin(true) // so that no other can
	require.NoError(t, err)
	noted := func() (size int) {
		k.Store.mu.Lock()
		defer k.Store.mu.Unlock()
		for _, c := range k.file.collected.changes {
			size += c.size()
		}
		return size
	}
	for i := range 10_000 {
		k.miss("10-a", fmt.Sprint("StopPodSandbox q", i))
		k.Delivered("10-a", "StopPodSandbox", [2]string{fmt.Sprint("q", i)})
		require.Less(t, noted(), 2<<20)
	}
	k.miss("10-a", "RemovePodSandbox p9")
	require.NoError(t, tx.Rollback())
	k.Sync()
	k.reopen(Options{})
	require.Equal(t, []string{"StopPodSandbox p9", "RemovePodSandbox p9"}, k.misses(t, "10-a"))
}

// Sync waits once for a file that does not answer.
func TestSlowFileIsWaitedForOnce(t *testing.T) {
	k := newKept(t)
	k.works(t)
	k.opts.Patience = time.Millisecond
	tx, err := k.file.db.Begin(true) // so that no other can
	require.NoError(t, err)
	k.miss("10-a", "RemovePodSandbox p9")
	k.Sync()
	require.Len(t, k.failures(), 1)
	k.opts.Patience = time.Hour
	k.miss("10-a", "RemovePodSandbox p10")
	k.Sync() // would be an hour
	require.NoError(t, tx.Rollback())
	require.Eventually(t, func() bool {
		k.Store.mu.Lock()
		defer k.Store.mu.Unlock()
		return !k.file.slow && k.file.unwritten() == nil
	}, time.Minute, time.Millisecond)
	k.reopen(Options{})
	require.Len(t, k.misses(t, "10-a"), 3)
}

// A process is killed at any point of its work. The file has everything that was synced, has no
// gap, and its ends are in order.
func TestSyncedEndsOutliveAKill(t *testing.T) {
	if path := os.Getenv("MISSED_PATH"); path != "" {
		noteUntilKilled(path)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 8 {
		path := filepath.Join(t.TempDir(), "missed.db")
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "MISSED_PATH="+path)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		synced, killAt := -1, random.IntN(40)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			synced, err = strconv.Atoi(lines.Text())
			require.NoError(t, err)
			if synced == killAt {
				time.AfterFunc(time.Duration(random.IntN(3000))*time.Microsecond, func() { cmd.Process.Kill() })
			}
		}
		require.Error(t, cmd.Wait(), "it was killed")
		s := Open(Options{Path: path, Failed: func(err error) { t.Error(err) }})
		var found int
		for d := range s.Missed("10-a") {
			require.Equal(t, fmt.Sprint("p", found/2), d.Object[0])
			require.Equal(t, []string{"StopPodSandbox", "RemovePodSandbox"}[found%2], d.Kind)
			found++
		}
		s.Close()
		require.GreaterOrEqual(t, found, 2*(synced+1))
		t.Logf("killed after %d: found %d ends", synced, found)
	}
}

func noteUntilKilled(path string) {
	s := Open(Options{Path: path, Patience: time.Minute})
	s.Joined("10-a", wants)
	for i := 0; ; i++ {
		s.Miss("10-a", "StopPodSandbox", [2]string{fmt.Sprint("p", i)}, "stop")
		s.Miss("10-a", "RemovePodSandbox", [2]string{fmt.Sprint("p", i)}, "remove")
		s.Sync()
		fmt.Println(i)
	}
}

func TestOpenFileNamesTheFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missed.db")
	write(t, path, make([]byte, 8192))
	_, err := openFile(path)
	require.True(t, errors.Is(err, errBroken) && errors.Is(err, berrors.ErrInvalid), err)
}
