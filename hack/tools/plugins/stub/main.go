// SPDX-License-Identifier: Apache-2.0

// Command stub is a plugin over NRI's stub, of the version that it is built with. It writes each
// event to its output, a line of JSON each, and adds a device to the containers of pods with the
// annotation of device. All else is left to the stub: what it says to the runtime, when it
// joins, and that the process ends with the connection.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// device is the annotation of pods whose containers get a device at the path that it has.
const device = "stub/device"

// event is a line of the output.
type event struct {
	Event     string
	Pod       string `json:",omitempty"` // by name
	Container string `json:",omitempty"`
	// Pods are those of Synchronize.
	Pods []string `json:",omitempty"`
}

func main() {
	s, err := stub.New(plugin{}, stub.WithPluginName("stub"), stub.WithPluginIdx("10"))
	if err == nil {
		err = s.Run(context.Background())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// plugin has the methods that the stub looks for. They have no context in versions before v0.4.
type plugin struct{}

func say(e event) {
	if err := json.NewEncoder(os.Stdout).Encode(e); err != nil {
		log.Fatal(err)
	}
}

func tell(name string, pod *api.PodSandbox, container *api.Container) {
	say(event{Event: name, Pod: pod.GetName(), Container: container.GetName()})
}

func synchronized(pods []*api.PodSandbox) {
	e := event{Event: "Synchronize"}
	for _, pod := range pods {
		e.Pods = append(e.Pods, pod.GetName())
	}
	say(e)
}

// adjusted is what a container gets: /dev/null by another name.
func adjusted(pod *api.PodSandbox) *api.ContainerAdjustment {
	path, ok := pod.GetAnnotations()[device]
	if !ok {
		return nil
	}
	a := &api.ContainerAdjustment{}
	a.AddDevice(&api.LinuxDevice{Path: path, Type: "c", Major: 1, Minor: 3})
	return a
}
