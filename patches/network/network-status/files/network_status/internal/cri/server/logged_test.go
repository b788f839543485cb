// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"testing"

	"github.com/containerd/log"
	"github.com/sirupsen/logrus"
)

// logged returns a context with a log that can be read.
func logged(t *testing.T) (context.Context, *bytes.Buffer) {
	var text bytes.Buffer
	logger := logrus.New()
	logger.SetOutput(&text)
	return log.WithLogger(t.Context(), logrus.NewEntry(logger)), &text
}
