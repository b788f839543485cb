// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

type key struct{}

func TestDeadlineIsAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		in := func(d time.Duration) *deadline { return &deadline{Context: parent, at: time.Now().Add(d)} }

		passed, over, late, quiet := in(time.Second), in(time.Hour), in(time.Hour), in(time.Second)
		at, ok := passed.Deadline()
		assert.True(t, ok)
		assert.Equal(t, time.Now().Add(time.Second), at)
		assert.Equal(t, "value", passed.Value(key{}))
		assert.NoError(t, passed.Err())
		<-passed.Done()
		assert.Equal(t, context.DeadlineExceeded, passed.Err())
		assert.Equal(t, "value", passed.Value(key{}))
		assert.Equal(t, context.DeadlineExceeded, quiet.Err(), "nobody asked for Done")

		over.end()
		<-over.Done()
		assert.Equal(t, context.Canceled, over.Err())

		child, done := context.WithCancel(late)
		defer done()
		assert.NoError(t, child.Err())
		late.end()
		<-child.Done()
		assert.Equal(t, context.Canceled, child.Err())

		given := in(time.Hour)
		cancel()
		<-given.Done()
		assert.Equal(t, context.Canceled, given.Err())
		assert.Equal(t, context.DeadlineExceeded, quiet.Err(), "an error does not change")
	})
}

func TestDeadlineOfTheCallerComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d := &deadline{Context: parent, at: time.Now().Add(time.Hour)}
		at, _ := d.Deadline()
		assert.Equal(t, time.Now().Add(time.Second), at)
		<-d.Done()
		assert.Equal(t, context.DeadlineExceeded, d.Err())
		d.end()
	})
}
