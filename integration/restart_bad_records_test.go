// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/integration/node"
)

var nobodyCounts = onStock("nothing is counted")

// phasesOf is the folder of the phases of sandboxes. Stock has none.
func phasesOf(n *node.Node) string {
	return filepath.Join(n.Folder(), "state", "io.containerd.grpc.v1.cri", "sandbox-phases")
}

// The runtime starts whatever is among the phases of sandboxes, and serves.
func TestL22_RuntimeStartsWhateverIsAmongThePhases(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	phases := phasesOf(n)
	path := filepath.Join(phases, "alien")
	l := newLife(t, n, "kept")
	for is, put := range map[string]func() error{
		"a folder":          func() error { return os.MkdirAll(filepath.Join(path, "lost+found"), 0o700) },
		"an empty file":     func() error { return os.WriteFile(path, nil, 0o600) },
		"an alien file":     func() error { return os.WriteFile(path, []byte("notes\n"), 0o600) },
		"a pipe":            func() error { return unix.Mkfifo(path, 0o600) },
		"a link to nowhere": func() error { return os.Symlink("nowhere", path) },
		"a file in place of the folder": func() error {
			return errors.Join(os.RemoveAll(phases), os.WriteFile(phases, nil, 0o600))
		},
	} {
		t.Run(is, func(t *testing.T) {
			ctx := withinAMinute(t)
			require.NoError(t, n.Kill(ctx))
			require.NoError(t, os.RemoveAll(phases))
			require.NoError(t, os.MkdirAll(phases, 0o700))
			require.NoError(t, put())
			errBoot := n.Boot(ctx)
			promise(t, "L22", "the runtime starts with "+is+", and runs pods", keptOnStock, func(t require.TestingT) {
				require.NoError(t, errBoot)
				requireReady(ctx, t, n, l.Pod)
				requirePodRunsAgain(t, n, n.CRI().Pod("new"))
			})
			promise(t, "L22", is+" is named in the log, and counted", nobodyCounts, func(t require.TestingT) {
				counted, err := n.Metrics(ctx, passedOver)
				require.NoError(t, err)
				assert.Equal(t, map[string]float64{`{kind="sandbox_phase"}`: 1}, counted)
				assert.NoError(t, hasLogged(n, "is not recovered", phases))
			})
		})
	}
	l.End(t)
	requireNothingLeft(t, n)
}

// One record cannot be read, or contradicts another: all other pods come up.
func TestL22_RuntimeStartsPastRecordsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	notAny := []byte{0xff}                // what is no protobuf message
	notJSON := []byte("\n\x01x\x12\x01{") // a message with a value that is no JSON
	endsCRI := onStock("CRI does not come up")
	leftOut := "containerd_metadata_unreadable_records_total"
	for _, record := range []struct {
		of     string
		path   func(l life) []string // of buckets, and a key in the last
		text   []byte
		start  func(*testing.T, ...func(*node.Options)) *node.Node
		stock  breach
		metric string
		kind   string
	}{
		{"a sandbox", func(l life) []string { return []string{"sandboxes", l.Pod, "spec"} }, notAny, startNode, endsCRI, leftOut, "sandbox"},
		{"the metadata of a sandbox of a shim", func(l life) []string {
			return []string{"sandboxes", l.Pod, "extensions", "metadata"}
		}, notJSON, startSandboxer, endsCRI, passedOver, "sandbox"},
		{"an update of a sandbox", func(l life) []string {
			return []string{"sandboxes", l.Pod, "extensions", "updated-resources"}
		}, notJSON, startNode, keptOnStock, passedOver, "sandbox_update"},
		{"the container of a sandbox", func(l life) []string { return []string{"containers", l.Pod, "spec"} }, notAny, startNode, endsCRI, leftOut, "container"},
		{"a container", func(l life) []string { return []string{"containers", l.Container, "spec"} }, notAny, startNode, endsCRI, leftOut, "container"},
		{"the metadata of a container", func(l life) []string {
			return []string{"containers", l.Container, "extensions", "io.cri-containerd.container.metadata"}
		}, notJSON, startNode, keptOnStock, passedOver, "container"},
	} {
		t.Run(record.of, func(t *testing.T) {
			n := record.start(t)
			ctx := withinAMinute(t)
			bad, good := newLife(t, n, "bad"), newLife(t, n, "good")
			require.NoError(t, n.Kill(ctx))
			require.NoError(t, overwrite(n, record.text, record.path(bad)...))
			errBoot := n.Boot(ctx)
			promise(t, "L22", "the runtime starts past "+record.of+" that cannot be read, and runs pods", record.stock, func(t require.TestingT) {
				require.NoError(t, errBoot)
				requireReady(ctx, t, n, good.Pod)
				runningSince(ctx, t, n, good.Container)
				requirePodRunsAgain(t, n, n.CRI().Pod("new"))
			})
			promise(t, "L22", record.of+" that cannot be read is named in the log, and counted", nobodyCounts, func(t require.TestingT) {
				require.NoError(t, errBoot)
				counted, err := n.Metrics(ctx, record.metric)
				require.NoError(t, err)
				assert.GreaterOrEqual(t, counted[fmt.Sprintf("{kind=%q}", record.kind)], float64(1), "%v", counted)
				assert.NoError(t, hasLogged(n, "level=error", record.path(bad)[1]))
			})
		})
	}
}

// overwrite puts a value where containerd's metadata has another, or none.
func overwrite(n *node.Node, value []byte, path ...string) (err error) {
	db, err := bbolt.Open(filepath.Join(n.Folder(), "root", "io.containerd.metadata.v1.bolt", "meta.db"), 0o600, &bbolt.Options{Timeout: 10 * time.Second})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte("v1")).Bucket([]byte("k8s.io"))
		for _, name := range path[:len(path)-1] {
			if bucket = bucket.Bucket([]byte(name)); bucket == nil {
				return fmt.Errorf("no bucket %q of %q", name, path)
			}
		}
		return bucket.Put([]byte(path[len(path)-1]), value)
	})
}
