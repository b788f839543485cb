// SPDX-License-Identifier: Apache-2.0

package nrinames

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// PluginPeer keeps reserved names to those who may take them.
var PluginPeer = edit.Patch{
	Slug:    "plugin-peer",
	Module:  "nri",
	Subject: "adaptation: let runtimes reserve the names of plugins",
	Body: `A plugin is what it says it is. Whoever can connect to the socket can register
under the name of the network's driver, and its answers then count as those of
the driver, also where that is required. The socket itself has the mode that
the umask leaves of it.

Let settings by name say of which users, and in pods of which
namespaces, a plugin may be that registers under the name. The runtime tells the
namespace of a pod from its own records (WithPodNamespaces). Anybody else is
rejected in RegisterPlugin, before Configure, with the reason. If it cannot be
told who a peer is, it gets no reserved name, and any other one.

So many connections may be registering at a time that a few peers which connect and
say nothing keep all others out. Let one pod, user or process have a quarter of the
places, and close what it opens beyond that.

Make the socket with mode 0600 from its first moment, and let runtimes set its
mode and owner (WithSocketPermissions).`,
	Rules:  []string{"L17", "L21"},
	Status: edit.Upstream,
	Until:  "NRI lets runtimes say who may register under the name of a plugin",
	Needs:  []string{"nri/sync-split", "nri/register-bounds", "nri/who-connects", "nri/required-plugins"},
	Edits: []edit.Edit{
		edit.In("pkg/adaptation/plugin_settings.go", edit.Type("PluginSettings")).AddField(`

// AllowedUsers and AllowedNamespaces reserve the name. Who registers under it has
// to be a process of one of the users, and in a pod of one of the namespaces; a list
// that is empty asks for nothing.
AllowedUsers      []uint32
AllowedNamespaces []string`),
		edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`

namespaceOf PodNamespaces // nil: no pod is known
socket      permissions
arrivals    arrivals`),
		edit.In(nri.Adaptation, edit.Func("New")).After(edit.Key("metrics"), `socket:      permissions{mode: DefaultSocketMode, uid: -1, gid: -1},`),
		edit.In(nri.Adaptation, edit.Method("Adaptation", "startListener")).Replace(edit.Stmt(edit.Define("l", "err")), `l, err := r.newSocket()`),
		edit.In(nri.PluginFile, edit.Type("plugin")).AddField(`

who who // is at the other end, if it is external`),
		edit.In(nri.PluginFile, edit.Method("plugin", "RegisterPlugin")).Before(edit.Stmt(edit.Assign("p.base")), `if err := p.r.admit(req.PluginIdx, req.PluginName, p.who); err != nil {
	p.regC <- err
	return nil, status.Error(codes.PermissionDenied, err.Error())
}
`),
		edit.AddImport(nri.PluginFile, "google.golang.org/grpc/codes"),
		edit.AddImport(nri.PluginFile, "google.golang.org/grpc/status"),
		edit.In(registration, edit.Method("Adaptation", "accept")).Replace(edit.Stmt(edit.Call("r.register")), `seen := whoIs(conn)
if !r.letsIn(seen) {
	seen.close()
	_ = conn.Close() // it is told no more than that
	continue
}
leave := place()
go r.register(noCtx, conn, seen, func() {
	leave()
	r.letsGo(seen)
})`),
		edit.In(registration, edit.Method("Adaptation", "register")).Signature("func (r *Adaptation) register(ctx context.Context, conn net.Conn, seen who, leave func())"),
		edit.In(registration, edit.Method("Adaptation", "register")).Before(edit.Stmt(edit.Define("p", "err")), `defer seen.close()
`),
		edit.In(registration, edit.Method("Adaptation", "register")).Before(edit.Stmt(edit.Mentions("p.start(r.name, r.version)")), `p.who = seen
`),
		edit.In(registration, edit.Method("Adaptation", "register")).Before(edit.Stmt(edit.Call("p.close")), `p.hearsRejection(err)
`),
	},
}
