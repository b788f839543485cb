// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// command returns the CNI command that a plugin is run with.
func command(environ []string) string { return variable(environ, "CNI_COMMAND") }

func variable(environ []string, name string) string {
	for _, v := range environ {
		if value, is := strings.CutPrefix(v, name+"="); is {
			return value
		}
	}
	return ""
}

// attributes returns the attributes of the span of a request.
func attributes(path string, stdin []byte, environ []string) []attribute.KeyValue {
	var network struct{ Name string }
	_ = json.Unmarshal(stdin, &network) // the plugin reports its faults
	all := []attribute.KeyValue{
		attribute.String("cni.plugin", filepath.Base(path)),
		attribute.String("cni.name", network.Name),
	}
	for key, name := range map[string]string{"cni.id": "CNI_CONTAINERID", "cni.ifname": "CNI_IFNAME"} {
		if value := variable(environ, name); value != "" { // STATUS and GC have none
			all = append(all, attribute.String(key, value))
		}
	}
	return all
}
