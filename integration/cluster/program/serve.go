// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// runServe is a workload: each connection to the port receives the pod's name.
func runServe(args []string) error {
	if len(args) != 1 {
		return errors.New("give a port")
	}
	l, err := net.Listen("tcp", ":"+args[0])
	if err != nil {
		return err
	}
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		_, _ = io.WriteString(conn, name) // the other side may be a probe
		_ = conn.Close()
	}
}

// runGet prints what an address serves.
func runGet(args []string) error {
	if len(args) != 1 {
		return errors.New("give HOST:PORT")
	}
	const limit = 5 * time.Second
	conn, err := net.DialTimeout("tcp", args[0], limit)
	if err != nil {
		return err
	}
	err = conn.SetDeadline(time.Now().Add(limit))
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	text, err := io.ReadAll(conn)
	err = errors.Join(err, conn.Close())
	if err == nil {
		_, err = fmt.Print(string(text))
	}
	return err
}
