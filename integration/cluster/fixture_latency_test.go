// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// latency is the kubelet's measurements of starts of pods so far.
type latency struct{ startSum, startCount, sandboxSum, sandboxCount float64 }

// startLatency reads the kubelet's metrics.
func (c *cluster) startLatency(t testing.TB) latency {
	t.Helper()
	var l latency
	eventually(t, soon, "the kubelet's metrics", func(ctx context.Context) error {
		text, err := c.CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes/" + c.worker + "/proxy/metrics").DoRaw(ctx)
		if err != nil {
			return err
		}
		l = latency{}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			l.read(lines.Text())
		}
		if l.startCount == 0 {
			return errors.New("it has measured no start")
		}
		return nil
	})
	return l
}

func (l *latency) read(line string) {
	name, _, _ := strings.Cut(line, " ")
	name, _, _ = strings.Cut(name, "{")
	value, err := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64)
	if err != nil {
		return
	}
	switch name {
	case "kubelet_pod_start_sli_duration_seconds_sum":
		l.startSum += value
	case "kubelet_pod_start_sli_duration_seconds_count":
		l.startCount += value
	case "kubelet_run_podsandbox_duration_seconds_sum":
		l.sandboxSum += value
	case "kubelet_run_podsandbox_duration_seconds_count":
		l.sandboxCount += value
	}
}

// since describes the means of the measurements since an earlier latency.
func (l latency) since(before latency) string {
	starts, sandboxes := l.startCount-before.startCount, l.sandboxCount-before.sandboxCount
	return fmt.Sprintf("the kubelet measured %.0f starts of pods, %.2f s in the mean, and %.0f sandboxes, %.3f s in the mean",
		starts, (l.startSum-before.startSum)/starts, sandboxes, (l.sandboxSum-before.sandboxSum)/sandboxes)
}
