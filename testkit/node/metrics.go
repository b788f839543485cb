// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// metrics is the address of containerd's metrics. It is in the node's network namespace, so that all
// nodes can use the same.
const metrics = "127.0.0.1:1338"

// Metrics returns the values of a metric of containerd since Boot, by its labels as in Prometheus'
// text: `{source="field"}`. It is empty for a metric that has counted nothing.
func (n *Node) Metrics(ctx context.Context, name string) (map[string]float64, error) {
	counted, err := n.metrics(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read metric %s: %w", name, err)
	}
	return counted, nil
}

func (n *Node) metrics(ctx context.Context, name string) (_ map[string]float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+metrics+"/v1/metrics", nil)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{DialContext: n.dialWithin, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", response.Status)
	}
	counted := map[string]float64{}
	for lines := bufio.NewScanner(response.Body); ; {
		if !lines.Scan() {
			return counted, lines.Err()
		}
		labels, is := strings.CutPrefix(lines.Text(), name)
		at := strings.LastIndexByte(labels, ' ')
		if !is || at < 0 || at > 0 && labels[0] != '{' {
			continue // of another metric, whose name begins with that
		}
		if counted[labels[:at]], err = strconv.ParseFloat(labels[at+1:], 64); err != nil {
			return nil, err
		}
	}
}

// dialWithin dials in the node's network namespace. A socket stays in the namespace
// that it was created in.
func (n *Node) dialWithin(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = n.Within(func() error {
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}
