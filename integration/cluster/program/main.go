// SPDX-License-Identifier: Apache-2.0

// Command program is the only program in the image of the tests:
//
//	program plugin   an NRI plugin that records, and does what a pod's annotations say
//	program ready    tells whether the plugin beside it is connected
//	program wait     a workload: waits for SIGTERM, or does as told
//	program agent    waits until it is killed, so that program node can be run beside it
//	program node     runs a command on the node, from a privileged pod in its pid namespace
//	program install  puts the binaries of a folder of the node beside its containerd
//	program uninstall  takes them away, or names the pods that keep them
//	program cni      a CNI plugin to chain, whose STATUS is what a file says
package main

import (
	"fmt"
	"os"
)

func main() {
	commands := map[string]func([]string) error{
		"plugin": runPlugin, "ready": isReady, "wait": runWait, "agent": runAgent, "node": runNode, "cni": runCNI,
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
		fmt.Fprintf(os.Stderr, "program: there is no command %q\n", name)
		os.Exit(2)
	}
	if err := run(os.Args[min(2, len(os.Args)):]); err != nil {
		fmt.Fprintf(os.Stderr, "program %s: %v\n", name, err)
		os.Exit(1)
	}
}
