// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/hookline-nri/hookline/testkit/proc"
)

// Vitals are the resources that containerd itself uses.
type Vitals struct {
	Files      int // open files
	Goroutines int
	Records    int // bytes of keys and values in the metadata database
	Database   int // bytes of its file, which grows in steps and never shrinks
}

func (v Vitals) String() string {
	return fmt.Sprintf("%d files, %d goroutines, %d bytes of records in %d of the database", v.Files, v.Goroutines, v.Records, v.Database)
}

// Vitals measures these resources. Records are exact only while nothing is written.
func (n *Node) Vitals(ctx context.Context) (v Vitals, err error) {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", n.PID()))
	if err != nil {
		return v, err
	}
	v.Files = len(files)
	if v.Goroutines, err = n.GoroutineCount(ctx); err != nil {
		return v, err
	}
	v.Records, v.Database, err = n.database()
	return v, err
}

// Memory returns the resident memory of containerd in bytes, after a garbage collection.
func (n *Node) Memory(ctx context.Context) (int, error) {
	if _, err := n.profile(ctx, "heap?gc=1"); err != nil {
		return 0, err
	}
	return residentOf(n.PID())
}

// ShimMemory returns the resident memory of the shim of a pod, in bytes.
func (n *Node) ShimMemory(pod string) (int, error) {
	pid, err := n.Shim(pod)
	if err != nil {
		return 0, err
	}
	return residentOf(pid)
}

// PodsMemory returns the memory of all shims and of the processes of containers, in bytes, that no
// two processes share.
func (n *Node) PodsMemory() (bytes int, err error) {
	pids, err := n.Processes()
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		if pid == n.PID() {
			continue
		}
		private, err := proc.PrivateMemory(pid)
		if err != nil {
			return 0, err
		}
		bytes += private
	}
	return bytes, nil
}

// AnonymousMemory is the part of the resident memory of containerd that is no mapped file.
func (n *Node) AnonymousMemory() (int, error) { return memoryOf(n.PID(), "RssAnon:") }

func residentOf(pid int) (int, error) { return memoryOf(pid, "VmRSS:") }

func memoryOf(pid int, field string) (int, error) {
	resident, err := proc.Status(pid, field)
	if err != nil {
		return 0, err
	}
	var kibibytes int
	if _, err := fmt.Sscanf(resident, "%d kB", &kibibytes); err != nil {
		return 0, fmt.Errorf("read memory of process %d from %q: %w", pid, resident, err)
	}
	return kibibytes << 10, nil
}

// GoroutineCount returns the number of containerd's goroutines.
func (n *Node) GoroutineCount(ctx context.Context) (count int, err error) {
	stacks, err := n.goroutines(ctx)
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscanf(stacks, "goroutine profile: total %d", &count); err != nil {
		return 0, fmt.Errorf("count goroutines of containerd: %w", err)
	}
	return count, nil
}

// goroutines returns the stacks of containerd's goroutines, equal ones with their number.
func (n *Node) goroutines(ctx context.Context) (string, error) {
	return n.profile(ctx, "goroutine?debug=1")
}

// profile asks containerd for one of the profiles of runtime/pprof.
func (n *Node) profile(ctx context.Context, query string) (string, error) {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", n.paths.debug())
	}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://containerd/debug/pprof/"+query, nil)
	if err != nil {
		return "", err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", fmt.Errorf("ask containerd for profile %s: %w", query, err)
	}
	content, err := io.ReadAll(response.Body)
	if closeErr := response.Body.Close(); err == nil {
		err = closeErr
	}
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("ask containerd for profile %s: status %s", query, response.Status)
	}
	return string(content), err
}

// database measures the content of the metadata database. containerd has it locked, so it reads a
// copy.
func (n *Node) database() (records, size int, err error) {
	content, err := os.ReadFile(filepath.Join(n.paths.root(), "io.containerd.metadata.v1.bolt", "meta.db"))
	if err != nil {
		return 0, 0, err
	}
	file := n.paths.in("meta.db")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return 0, 0, err
	}
	db, err := bolt.Open(file, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		return 0, 0, fmt.Errorf("open copy of the metadata database: %w", err)
	}
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			records += len(name)
			return count(b, &records)
		})
	})
	if closeErr := db.Close(); err == nil {
		err = closeErr
	}
	return records, len(content), err
}

// count adds up the keys and values of a bucket and of the buckets in it.
func count(b *bolt.Bucket, bytes *int) error {
	return b.ForEach(func(key, value []byte) error {
		*bytes += len(key) + len(value)
		if nested := b.Bucket(key); nested != nil {
			return count(nested, bytes)
		}
		return nil
	})
}
