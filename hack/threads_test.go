// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/hack/docs"
	"github.com/hookline-nri/hookline/patches"
)

// A thread that names a patch which was dropped, or does not say what happens to one, is rejected.
func TestThreads(t *testing.T) {
	require.NoError(t, errors.Join(docs.CheckThreads(patches.Series, threads)...))
}
