// SPDX-License-Identifier: Apache-2.0

// Command stub is a plugin over a version of NRI's stub that is too old for NRI's logger and
// device-injector. It does the same as they do: it writes the names of pods in each event, in lines
// like those of logger, and adds a device to the containers of pods that have the annotation device.
// The stub does the rest: it registers with the runtime, and ends the process with the connection.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// device is the annotation of pods whose containers get a device, at the path in its value.
const device = "stub/device"

func main() {
	s, err := stub.New(plugin{}, stub.WithPluginName("stub"), stub.WithPluginIdx("10"))
	if err == nil {
		err = s.Run(context.Background())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// plugin has the methods that the stub looks for.
type plugin struct{}

func say(format string, args ...any) {
	if _, err := fmt.Fprintf(os.Stderr, format+"\n", args...); err != nil {
		log.Fatal(err)
	}
}

func tell(event string, pod *api.PodSandbox) {
	say("%s:    name: %s", event, pod.GetName())
}

func synchronized(pods []*api.PodSandbox) {
	say("Synchronize: pods:")
	for _, pod := range pods {
		say("Synchronize:    - name: %s", pod.GetName())
	}
}

// adjusted returns the device of a container: /dev/null under another name.
func adjusted(pod *api.PodSandbox) *api.ContainerAdjustment {
	path, ok := pod.GetAnnotations()[device]
	if !ok {
		return nil
	}
	a := &api.ContainerAdjustment{}
	a.AddDevice(&api.LinuxDevice{Path: path, Type: "c", Major: 1, Minor: 3})
	return a
}
