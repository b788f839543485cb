// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"sync"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// traces is the address to which containerd sends its traces by OTLP. It is in the node's network
// namespace, so that all nodes can use the same.
const traces = "127.0.0.1:4318"

// A Span is one step that containerd has traced.
type Span struct {
	Trace      string // the id of its trace, in hex
	ID, Parent string // Parent is empty for the first span of a trace
	Name       string
	Began      time.Time
	Took       time.Duration
	Attributes map[string]string // only those with text values
	Failure    string            // empty unless it failed
}

// Traces receives the traces of a node, in a file.
type Traces struct {
	path   string
	server *http.Server
	served chan error

	mu sync.Mutex // guards the file
}

// ReceiveTraces receives the traces that containerd sends, until the Traces are closed. Earlier
// traces may be lost.
func (n *Node) ReceiveTraces() (*Traces, error) {
	listener, err := n.Listen(traces)
	if err != nil {
		return nil, fmt.Errorf("receive traces: %w", err)
	}
	t := &Traces{path: n.paths.in("traces.json"), served: make(chan error, 1)}
	t.server = &http.Server{Handler: http.HandlerFunc(t.receive), ReadHeaderTimeout: time.Minute}
	go func() { t.served <- t.server.Serve(listener) }()
	return t, nil
}

// Close stops the server.
func (t *Traces) Close() error {
	err := t.server.Close()
	if served := <-t.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// receive writes a request as a line to the file. Its message has only the field of TracesData.
func (t *Traces) receive(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	data := &trace.TracesData{}
	if err == nil {
		err = proto.Unmarshal(content, data)
	}
	if err == nil {
		err = t.write(data)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (t *Traces) write(data *trace.TracesData) (err error) {
	line, err := protojson.Marshal(data)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	file, err := os.OpenFile(t.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.Write(append(line, '\n'))
	return err
}

// Spans returns the spans in the file so far.
func (t *Traces) Spans() (all []Span, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	file, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		data := &trace.TracesData{}
		if err := protojson.Unmarshal(line, data); err != nil {
			return nil, err
		}
		all = append(all, spansOf(data)...)
	}
}

func spansOf(data *trace.TracesData) (all []Span) {
	for _, of := range data.GetResourceSpans() {
		for _, scope := range of.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				began := time.Unix(0, int64(s.GetStartTimeUnixNano()))
				span := Span{
					Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()), Name: s.GetName(),
					Began: began, Took: time.Unix(0, int64(s.GetEndTimeUnixNano())).Sub(began), Attributes: map[string]string{},
				}
				for _, a := range s.GetAttributes() {
					if text, is := a.GetValue().GetValue().(*common.AnyValue_StringValue); is {
						span.Attributes[a.GetKey()] = text.StringValue
					}
				}
				if s.GetStatus().GetCode() == trace.Status_STATUS_CODE_ERROR {
					span.Failure = s.GetStatus().GetMessage()
				}
				all = append(all, span)
			}
		}
	}
	return all
}
