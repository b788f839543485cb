// SPDX-License-Identifier: Apache-2.0

package nrinames

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// PluginPeer reserves names of plugins for users and namespaces.
var PluginPeer = edit.Patch{
	Slug:    "plugin-peer",
	Module:  "nri",
	Subject: "adaptation: let runtimes reserve the names of plugins",
	Body: `NRI does not verify the name of a plugin. Any process that can connect to the
socket can register under the name of the network's driver. Its answers then
count as those of the driver, even if the driver is required. The mode of the
socket depends on the umask.

Let settings reserve a name for processes of some users, and for pods of some
namespaces. The runtime finds the namespace of a pod in its own records
(WithPodNamespaces). Kernels before 6.5 name the process of a peer by its number
alone; runtimes can reject that (WithoutIdentityByNumber). RegisterPlugin rejects all other plugins, before Configure,
with the reason. A peer that cannot be identified gets no reserved name, and may
have any other one.

The number of connections that may be registering at a time is limited, so a few
peers that connect and send nothing block all others. Let one pod, user or
process have a quarter of the places, and close any further connection of it.

Make the socket with mode 0600 from its first moment, and let runtimes set its
mode and owner (WithSocketPermissions).`,
	Rules:  []string{"L17", "L21"},
	Status: edit.Upstream,
	Until:  "NRI lets runtimes restrict which users and pods may register under a name",
	Needs:  []string{"nri/sync-split", "nri/register-bounds", "nri/who-connects", "nri/required-plugins"},
	Edits: []edit.Edit{
		edit.In("pkg/adaptation/plugin_settings.go", edit.Type("PluginSettings")).AddField(`

// AllowedUsers and AllowedNamespaces reserve the name. A plugin that registers under it
// must be a process of one of the users, and in a pod of one of the namespaces. An empty
// list allows all.
AllowedUsers      []uint32
AllowedNamespaces []string`),
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

namespaceOf PodNamespaces // nil: the runtime does not know the namespaces of pods
noNumbers   bool          // whether a peer that is identified by number gets no reserved name
socket      permissions
arrivals    arrivals`),
		edit.In(nri.Adaptation, edit.Func("New")).After(edit.Key("metrics"), `socket:      permissions{mode: DefaultSocketMode, uid: -1, gid: -1},`),
		edit.In(nri.Adaptation, edit.Method("Adaptation", "startListener")).Replace(edit.Stmt(edit.Define("l", "err")), `l, err := r.newSocket()`),
		edit.In(nri.PluginFile, edit.Type("plugin")).AddField(`

identity identity // of the peer, if it is external`),
		edit.In(nri.PluginFile, edit.Method("plugin", "RegisterPlugin")).Before(edit.Stmt(edit.Assign("p.base")), `if err := p.r.admit(req.PluginIdx, req.PluginName, p.identity); err != nil {
	p.regC <- err
	return nil, status.Error(codes.PermissionDenied, err.Error())
}
`),
		edit.AddImport(nri.PluginFile, "google.golang.org/grpc/codes"),
		edit.AddImport(nri.PluginFile, "google.golang.org/grpc/status"),
		edit.In(registration, edit.Method("Adaptation", "accept")).Replace(edit.Stmt(edit.Call("r.register")), `seen := identify(conn)
if !r.letsIn(seen) {
	seen.close()
	_ = conn.Close() // the peer receives no reason
	continue
}
leave := place()
go r.register(noCtx, conn, seen, func() {
	leave()
	r.letsGo(seen)
})`),
		edit.In(registration, edit.Method("Adaptation", "register")).Signature("func (r *Adaptation) register(ctx context.Context, conn net.Conn, seen identity, leave func())"),
		edit.In(registration, edit.Method("Adaptation", "register")).Before(edit.Stmt(edit.Define("p", "err")), `defer seen.close()
`),
		edit.In(registration, edit.Method("Adaptation", "register")).Before(edit.Stmt(edit.Mentions("p.start(r.name, r.version)")), `p.identity = seen
`),
		edit.In(registration, edit.Method("Adaptation", "register")).Before(edit.Stmt(edit.Call("p.close")), `p.hearsRejection(err)
`),
	},
}
