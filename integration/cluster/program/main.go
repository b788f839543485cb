// SPDX-License-Identifier: Apache-2.0

// Command program is the only program in the image of the tests:
//
//	program plugin   an NRI plugin that records events, and follows annotations of pods
//	program ready    succeeds if the plugin beside it is connected
//	program driver   a DRA driver whose devices require an NRI plugin
//	program wait     a workload: waits for SIGTERM, or ends as its flags say
//	program serve    a workload: sends each client its pod's name
//	program get      prints what an address serves
//	program agent    waits until it is killed, so that program node can run in its container
//	program node     runs a command on the node, from a privileged pod in its pid namespace
//	program install  installs the binaries of a folder of the node beside its containerd
//	program uninstall  removes them, or names the pods that still use them
//	program cni      a chained CNI plugin, whose STATUS comes from a file
package main

import (
	"fmt"
	"os"
)

func main() {
	commands := map[string]func([]string) error{
		"plugin": runPlugin, "ready": isReady, "driver": runDriver, "wait": runWait, "serve": runServe, "get": runGet, "agent": runAgent, "node": runNode, "cni": runCNI,
		"install": runInstall, "uninstall": runUninstall,
	}
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	if os.Getenv("CNI_COMMAND") != "" {
		name = "cni"
	}
	run := commands[name]
	if run == nil {
		fmt.Fprintf(os.Stderr, "program: unknown command %q\n", name)
		os.Exit(2)
	}
	if err := run(os.Args[min(2, len(os.Args)):]); err != nil {
		fmt.Fprintf(os.Stderr, "program %s: %v\n", name, err)
		os.Exit(1)
	}
}
