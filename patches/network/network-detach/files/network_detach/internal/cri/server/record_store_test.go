// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/sandbox"
)

// A recordStore has one record.
type recordStore struct {
	sandbox.Store
	record  sandbox.Sandbox
	during  func() // what happens while it is written
	written []string
	fails   error // to read
	full    error // to write
}

// withRecord gives a service a store with the record of a sandbox.
func withRecord(t *testing.T, c *criService, id string) *recordStore {
	t.Helper()
	store := &recordStore{record: sandbox.Sandbox{ID: id}}
	client, err := containerd.New("", containerd.WithServices(containerd.WithSandboxStore(store)))
	require.NoError(t, err)
	c.client = client
	return store
}

func (s *recordStore) Get(context.Context, string) (sandbox.Sandbox, error) {
	record := s.record
	record.Extensions = maps.Clone(record.Extensions)
	return record, s.fails
}

func (s *recordStore) Update(_ context.Context, record sandbox.Sandbox, paths ...string) (sandbox.Sandbox, error) {
	if s.full != nil {
		return record, s.full
	}
	if during := s.during; during != nil {
		s.during = nil
		during()
	}
	s.record = record
	s.written = append(s.written, paths...)
	return record, nil
}
