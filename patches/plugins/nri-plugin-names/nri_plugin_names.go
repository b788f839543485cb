// SPDX-License-Identifier: Apache-2.0

package nripluginnames

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NRIPluginNames lets the operator reserve the names of plugins.
var NRIPluginNames = edit.Patch{
	Slug:    "nri-plugin-names",
	Module:  "containerd",
	Subject: "cri,nri: let settings say who may register under a name",
	Body: `Any process that can connect to NRI's socket registers under the name that it
likes, and so can any pod that mounts the socket. Where a plugin is required,
its word is that of whoever came under its name.

Let the settings of a plugin say of which users, and in pods of which
namespaces, it may be. The namespace is that of the pod in CRI's own store: a
container's pod is looked up by the container, and its uid must be the one that
the cgroup says. Count who is rejected. Make the mode and the owner of the socket
settings, with 0600 as the default. Log each listing for plugins that join at
level debug: whoever can connect has it done as often as it likes.`,
	Rules:  []string{"L17", "L21"},
	Status: edit.Upstream,
	Until:  "containerd's settings can say who may register as an NRI plugin of a name",
	Needs:  []string{"nri/plugin-peer", "containerd/nri-plugin-settings"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`
// SocketMode is the mode of the NRI socket, in octal: who may write to it may connect.
// Empty stands for "0600".
SocketMode string ` + "`toml:\"socket_mode\" json:\"socketMode\"`" + `
// SocketUID is the user that owns the NRI socket, by default containerd's own.
SocketUID int ` + "`toml:\"socket_uid\" json:\"socketUID\"`" + `
// SocketGID is the group that owns the NRI socket, by default containerd's own.
SocketGID int ` + "`toml:\"socket_gid\" json:\"socketGID\"`"),
		edit.In(containerd.NRIConfig, edit.Func("DefaultConfig")).After(edit.Key("SyncTransientSandboxes"), `SocketMode:                defaultSocketMode,
SocketUID:                 os.Geteuid(),
SocketGID:                 os.Getegid(),`),
		edit.AddImport(containerd.NRIConfig, "os"),
		edit.In(containerd.NRIConfig, edit.Method("Config", "toOptions")).After(edit.Stmt(edit.Mentions("nri.WithOrderedUpdates()")),
			`opts = append(opts, nri.WithPodNamespaces(domains.podNamespace), c.socketPermissions())`),
		containerd.Local("syncPlugin").Replace(edit.Expr("log.G(ctx).Info"), "log.G(ctx).Debug"),
		edit.In(containerd.PluginConfig, edit.Type("PluginConfig")).AddField(`

// AllowedUsers reserves the name for processes of these users, by their number on the
// node. Empty asks for none.
AllowedUsers []uint32 ` + "`toml:\"allowed_users\" json:\"allowedUsers\"`" + `
// AllowedNamespaces reserves the name for processes in pods of these namespaces. Empty
// asks for none. With both, both have to hold.
AllowedNamespaces []string ` + "`toml:\"allowed_namespaces\" json:\"allowedNamespaces\"`"),
		edit.In(containerd.PluginConfig, edit.Method("Config", "pluginSettings")).After(edit.Key("SyncTimeout"), `AllowedUsers:          p.AllowedUsers,
AllowedNamespaces:     p.AllowedNamespaces,`),
		edit.In(containerd.PluginConfig, edit.Method("PluginConfig", "validate")).Before(edit.Top(), `if slices.Contains(p.AllowedNamespaces, "") {
	errs = append(errs, errors.New("allowed_namespaces has an empty name"))
}
`),
		edit.In("internal/nri/validate.go", edit.Method("Config", "validate")).Before(edit.Stmt(edit.Return("errors.Join(errs...)")),
			`errs = append(errs, c.validateSocket()...)
`),
		containerd.NRIGuide("Requiring Plugins", "mean the same for pods").After(`
## Reserving Names of Plugins

Whoever can write to the NRI socket can register a plugin. Its mode and owner are settings. A name can be
reserved for processes of some users, for processes in pods of some namespaces, or for those that are both:

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri"]
    socket_mode = "0600"
    socket_uid = 0
    socket_gid = 0
  [plugins."io.containerd.nri.v1.nri".plugins.device-injector]
    allowed_users = [0]
    allowed_namespaces = ["kube-system"]
` + "```" + `

The user is that of the process that has connected, and the pod is found from its cgroup. Where they cannot
be told, a reserved name is rejected, and others are for anybody. A plugin that is rejected gets code
PermissionDenied from RegisterPlugin.`),
	},
}
