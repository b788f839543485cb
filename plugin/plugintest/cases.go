// SPDX-License-Identifier: Apache-2.0

package plugintest

import "github.com/containerd/nri/pkg/api"

// A play is one case of Worst.
type play struct {
	name  string
	steps []step
}

// worst are the cases. The rules are those of the contract (docs/contract.md).
var worst = []play{
	{"a life", []step{ // L1
		up(), join(), holds(), run("a"), holds("a"), run("b"), holds("a", "b"),
		stop("a"), holds("b"), remove("a"), holds("b"), stop("b"), remove("b"), holds(),
		run("c"), holds("c"),
	}},
	{"each event comes twice", []step{ // L18
		up(), join(), run("a"), run("a"), holds("a"), stop("a"), stop("a"), holds(), remove("a"), remove("a"), holds(),
	}},
	{"a removal without its stop", []step{ // L3: the stop came to an earlier connection
		up(), join(), run("a"), remove("a"), holds(),
	}},
	{"an end without a beginning", []step{ // L3
		up(), join(), stop("a"), remove("a"), holds(),
		stopOf(&api.PodSandbox{Id: "b"}), removeOf(&api.PodSandbox{Id: "b"}), holds(),
	}},
	{"a second sandbox of a pod, before the first is removed", []step{ // L1
		up(), join(), run("a-1"), stop("a-1"), run("a-2"), holds("a-2"), remove("a-1"), holds("a-2"), stop("a-2"), remove("a-2"), holds(),
	}},
	{"pods that are older than the plugin", []step{ // L2
		up(), join(ready("a"), unknown("b")), holds("a", "b"), stop("a"), remove("a"), holds("b"), stop("b"), remove("b"), holds(),
	}},
	{"a pod that is being created while the plugin joins", []step{ // L2
		up(), join(creating("a")), holds(), run("a"), holds("a"), stop("a"), remove("a"), holds(),
	}},
	{"a pod that is being created while the plugin joins, and fails", []step{ // L7
		up(), join(creating("a")), stop("a"), remove("a"), holds(),
	}},
	{"a pod that was stopped before the plugin joined", []step{ // L2
		up(), join(stopped("a")), holds(), remove("a"), holds(),
	}},
	{"the runtime restarts", []step{ // L15
		up(), join(), run("a"), down(), holds("a"), up(ready("a")), holds("a"), stop("a"), remove("a"), holds(),
	}},
	{"the plugin restarts", []step{ // L18
		up(), join(), run("a"), leave(), holds("a"), join(ready("a")), holds("a"), stop("a"), remove("a"), holds(),
	}},
	{"a pod stops while the plugin is not connected", []step{ // L18
		up(), join(), run("a"), leave(), join(stopped("a")), holds(), stop("a"), remove("a"), holds(),
	}},
	{"a pod is removed while the plugin is not connected", []step{ // L18
		up(), join(), run("a"), leave(), join(), holds(), stop("a"), remove("a"), holds(),
	}},
	{"a pod is removed while the runtime is restarted, and its ends are lost", []step{ // L18
		up(), join(), run("a"), run("b"), down(), up(ready("b")), holds("b"),
	}},
	{"a missed end with little but the id", []step{ // L18
		up(), join(), run("a"), leave(), join(ready("a")), stopOf(&api.PodSandbox{Id: "a"}), holds(), removeOf(&api.PodSandbox{Id: "a"}), holds(),
	}},
	{"the runtime ends while it creates a pod, and the pod is gone", []step{ // L15
		up(), join(), cut(run("a")), down(), up(), holds(),
	}},
	{"the runtime ends while it creates a pod, and the pod is left", []step{ // L15
		up(), join(), cut(run("a")), down(), up(unknown("a")), holds("a"), stop("a"), remove("a"), holds(),
	}},
	{"the plugin ends while a pod is created, and receives it late", []step{ // L18
		up(), join(), cut(run("a")), leave(), join(creating("a")), run("a"), holds("a"), stop("a"), remove("a"), holds(),
	}},
	{"the plugin ends while a pod is stopped, and receives it again", []step{ // L18
		up(), join(), run("a"), cut(stop("a")), leave(), join(ready("a")), stop("a"), holds(), remove("a"), holds(),
	}},
	{"the plugin ends while a pod is stopped, and the pod is gone", []step{ // L18
		up(), join(), run("a"), run("b"), cut(stop("a")), leave(), join(ready("b")), holds("b"),
	}},
	{"the plugin restarts between the end of a pod and its removal", []step{ // L18
		up(), join(), run("a"), stop("a"), leave(), join(stopped("a")), holds(), remove("a"), holds(),
	}},
	{"everything restarts, and pods have come and gone meanwhile", []step{ // L15
		up(), join(), run("a"), run("b"), run("c"), leave(), down(),
		up(), join(ready("b"), stopped("c"), creating("d"), ready("e")), holds("b", "e"),
		run("d"), holds("b", "d", "e"), remove("c"), holds("b", "d", "e"),
	}},
}
