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
	Subject: "cri,nri: let settings reserve the names of plugins",
	Body: `Any process that can connect to NRI's socket can register under any
name, and so can any pod that mounts the socket. If a plugin is
required, the approval of any process that registered under its name
counts as the plugin's.

Let the settings of a plugin list the users that may register under its
name, and the namespaces whose pods may. The namespace is the one in
CRI's own store: a container's pod is looked up by the container, and
the pod's uid must be the one in the cgroup. Count rejected
registrations. Make the mode and the owner of the socket settings, with
0600 as the default mode. Log each listing for plugins that join at
level debug, because any process that can connect can cause it at any
rate.`,
	Rules:  []string{"L17", "L21"},
	Status: edit.Upstream,
	Until:  "containerd's settings can reserve the name of an NRI plugin for users and namespaces",
	Needs:  []string{"nri/plugin-peer", "containerd/nri-plugin-settings"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).AddField(`
// SocketMode is the mode of the NRI socket, in octal. Users that may write to the socket may
// connect. Empty stands for "0600".
SocketMode string ` + "`toml:\"socket_mode\" json:\"socketMode\"`" + `
// SocketUID is the user that owns the NRI socket, by default containerd's own.
SocketUID int ` + "`toml:\"socket_uid\" json:\"socketUID\"`" + `
// SocketGID is the group that owns the NRI socket, by default containerd's own.
SocketGID int ` + "`toml:\"socket_gid\" json:\"socketGID\"`" + `
// IdentityByNumber is whether a plugin may have a reserved name if the kernel names its process
// by number alone, as kernels before 6.5 do. Newer kernels are not affected.
IdentityByNumber bool ` + "`toml:\"identity_by_number\" json:\"identityByNumber\"`"),
		edit.In(containerd.NRIConfig, edit.Func("DefaultConfig")).After(edit.Key("SyncTransientSandboxes"), `SocketMode:                defaultSocketMode,
SocketUID:                 os.Geteuid(),
SocketGID:                 os.Getegid(),
IdentityByNumber:          true,`),
		edit.AddImport(containerd.NRIConfig, "os"),
		edit.In(containerd.NRIConfig, edit.Method("Config", "toOptions")).After(edit.Stmt(edit.Mentions("nri.WithOrderedUpdates()")),
			`opts = append(opts, nri.WithPodNamespaces(domains.podNamespace), c.socketPermissions())
if !c.IdentityByNumber {
	opts = append(opts, nri.WithoutIdentityByNumber())
}`),
		containerd.Local("syncPlugin").Replace(edit.Expr("log.G(ctx).Info"), "log.G(ctx).Debug"),
		edit.In(containerd.PluginConfig, edit.Type("PluginConfig")).AddField(`

// AllowedUsers is the users, by their number on the node, whose processes may register under
// the name. If empty, all users may.
AllowedUsers []uint32 ` + "`toml:\"allowed_users\" json:\"allowedUsers\"`" + `
// AllowedNamespaces is the namespaces whose pods may register under the name. If empty, all
// processes may. If AllowedUsers is set too, a process must meet both.
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

Any process that can write to the NRI socket can register a plugin. The mode and the owner of the socket are
settings. A name can be reserved for processes of some users, for processes in pods of some namespaces, or for
processes that meet both:

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri"]
    socket_mode = "0600"
    socket_uid = 0
    socket_gid = 0
  [plugins."io.containerd.nri.v1.nri".plugins.device-injector]
    allowed_users = [0]
    allowed_namespaces = ["kube-system"]
` + "```" + `

The user is that of the process that has connected. The pod is found from the cgroup of the process. If they
cannot be determined, a reserved name is rejected, and all other names are accepted. A rejected plugin receives
code PermissionDenied from RegisterPlugin.`),
	},
}
