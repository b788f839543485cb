// SPDX-License-Identifier: Apache-2.0

package ledger

// An Object is a pod or a container as the runtime lists it.
type Object struct {
	Pod       string
	Container string // empty for a pod
	// Stopped says of a pod that its StopPodSandbox was over before this
	// runtime started, or otherwise without the engine: the connection is told
	// of it and gets only its Remove.
	Stopped bool
	// Creating says of a pod that the runtime has not made it ready yet.
	Creating bool
	// Value is for the sync function of Engine.Join alone.
	Value any
}

// A Snapshot is what is there at some moment.
type Snapshot struct {
	Pods       []Object
	Containers []Object
	// Exited are containers that have exited and are still there. They are not told
	// of; one that joined before may know them.
	Exited []Object
}

// ID names what an Object is.
func (o *Object) ID() ID { return ID{o.Pod, o.Container} }

// Index returns the pods and containers by their names.
func (s *Snapshot) Index() map[ID]Object {
	all := make(map[ID]Object, len(s.Pods)+len(s.Containers))
	for _, objects := range [][]Object{s.Pods, s.Containers} {
		for _, o := range objects {
			all[o.ID()] = o
		}
	}
	return all
}
