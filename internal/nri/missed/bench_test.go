// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// request is as large as the request that is kept for the end of a small pod.
var request = strings.Repeat("-", 1024)

func benchStore(b *testing.B) (s *Store, path string) {
	path = filepath.Join(b.TempDir(), "missed.db")
	s = Open(Options{
		Path: path, Bytes: 1 << 40, Patience: time.Minute,
		Dropped: func(string, string, int) { b.Error("dropped") },
		Failed:  func(err error) { b.Error(err) },
	})
	b.Cleanup(s.Close)
	s.Joined("10-logger", []string{"RemovePodSandbox"})
	s.Left("10-logger", func(func([2]string, bool) bool) {})
	s.Sync()
	return s, path
}

func miss(b *testing.B, s *Store, i int) {
	if !s.Miss("10-logger", "RemovePodSandbox", [2]string{fmt.Sprintf("%064d", i)}, request) {
		b.Fatal("the name is not known")
	}
}

// BenchmarkSync measures how long it takes until an end is safe. That is the disk's fdatasync,
// in the folder for temporary files.
func BenchmarkSync(b *testing.B) {
	s, _ := benchStore(b)
	for i := 0; b.Loop(); i++ {
		miss(b, s, i)
		s.Sync()
	}
}

// BenchmarkFile prints the size of the file with 10,000 ends, each synced before the next ten.
func BenchmarkFile(b *testing.B) {
	const ends = 10_000
	for b.Loop() {
		s, path := benchStore(b)
		for i := range ends {
			miss(b, s, i)
			if i%10 == 9 {
				s.Sync()
			}
		}
		s.Sync()
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size()), "B")
	}
}
