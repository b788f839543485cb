// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"archive/tar"
	"bytes"
	"os"
	"runtime"

	ggcr "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The repositories of the suites' images, without the name of the registry.
const (
	common  = "e2e-test-images/"
	own     = "k8s-staging-cri-tools/"
	project = "containerd/"
)

// images makes the images that the suites use, except those that they use by digest and those of a
// few tests.
func images(p Programs) (map[string]ggcr.Image, error) {
	rootfs, err := os.ReadFile(p.Rootfs)
	if err != nil {
		return nil, err
	}
	euid, err := os.ReadFile(p.EUID)
	if err != nil {
		return nil, err
	}
	idle, err := os.ReadFile(p.Pause)
	if err != nil {
		return nil, err
	}
	system := []ggcr.Layer{static.NewLayer(rootfs, types.OCIUncompressedLayer), files(settings...)}
	run := func(user string, command ...string) made { return made{layers: system, user: user, command: command} }
	with := func(more ...file) made {
		return made{layers: append(system[:len(system):len(system)], files(more...)), command: []string{"sh"}}
	}
	// Most tests of images never run them: one file makes each of them different.
	bare := func(user, mark string) made {
		return made{layers: []ggcr.Layer{files(file{name: "mark", text: mark})}, user: user, command: []string{"/mark"}}
	}
	pause := made{layers: []ggcr.Layer{files(file{name: "pause", text: string(idle)})}, command: []string{"/pause"}}
	copied, owned, grouped := with(copiedUp...), with(file{name: "test_dir/", owner: unprivileged}), with(group...)
	copied.volumes, owned.volumes, grouped.user = []string{"/test_dir", "C:/weird_test_dir", "/:colon_prefixed"}, []string{"/test_dir"}, "1000"
	httpd := run("", "sh", "-c", "echo httpd: serving; exec httpd -f -p 80 -h /srv")
	all := map[string]made{
		common + "busybox:1.29-2":               run("", "sh"),
		common + "nginx:1.14-2":                 run("", "nginx", "-c", "/etc/web.conf"),
		own + "hostnet-nginx-" + runtime.GOARCH: run("", "nginx", "-c", "/etc/hostnet.conf"),
		common + "httpd:2.4.39-4":               httpd,
		common + "resource-consumer:1.10":       run("", "sh", "-c", "exec tail -f /dev/null"),
		common + "nonewprivs:1.3":               {layers: []ggcr.Layer{files(file{name: "euid", text: string(euid), mode: 0o4755})}, command: []string{"/euid"}},
		own + "test-image-predefined-group":     grouped,
		own + "test-image-user-uid":             bare("1002", "uid"),
		own + "test-image-user-username":        bare("www-data", "username"),
		own + "test-image-user-uid-group":       bare("1003:1004", "uid and group"),
		own + "test-image-user-username-group":  bare("www-data:1004", "username and group"),
		own + "test-image-latest":               bare("", "latest"),
		own + "test-image-tag:test":             with(file{name: "mark", text: "test"}), // also run
		own + "test-image-tag:all":              bare("", "all"),
		own + "test-image-1":                    bare("", "1"),
		own + "test-image-2":                    bare("", "2"),
		own + "test-image-3":                    bare("", "3"),
		own + "test-image-tags:1":               bare("", "tags"),
		own + "test-image-tags:2":               bare("", "tags"),
		own + "test-image-tags:3":               bare("", "tags"),
		"pause:3.9":                             pause,
		"pause:3.10.2":                          pause,
		"hookline/pause:1":                      {layers: pause.layers, entrypoint: pause.command}, // the image of our own tests
		project + "busybox:1.36":                with(wheel...),
		project + "alpine:3.14.0":               with(alpine...),
		project + "volume-copy-up:2.2":          copied,
		project + "volume-ownership:2.1":        owned,
		project + "nginx:1.27.0":                run("", "nginx", "-c", "/etc/web.conf"),
	}
	images := map[string]ggcr.Image{}
	for name, m := range all {
		if images[name], err = m.image(); err != nil {
			return nil, err
		}
	}
	return images, nil
}

// made is an image to be made.
type made struct {
	layers     []ggcr.Layer
	user       string
	entrypoint []string
	command    []string
	volumes    []string
}

func (m made) image() (ggcr.Image, error) {
	img, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), m.layers...)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	// busybox is first, since its top needs no terminal.
	config.Config = ggcr.Config{Entrypoint: m.entrypoint, Cmd: m.command, User: m.user, Env: []string{"PATH=/bin:/usr/bin:/sbin:/usr/sbin"}}
	for _, volume := range m.volumes {
		if config.Config.Volumes == nil {
			config.Config.Volumes = map[string]struct{}{}
		}
		config.Config.Volumes[volume] = struct{}{}
	}
	return mutate.ConfigFile(img, config)
}

// file is a file of an image: a folder if its name ends with a slash, a link if it has a target.
type file struct {
	name, text, link string
	mode             int64
	owner            int // user and group
}

// unprivileged is the id of the user and of its group.
const unprivileged = 65534

const (
	users  = "root:x:0:0:root:/:/bin/sh\nwww-data:x:33:33:www-data:/:/bin/false\nnobody:x:65534:65534:nobody:/:/bin/false\n"
	groups = "root:x:0:\nwww-data:x:33:\nnogroup:x:65534:\n"
)

// settings are the files that configuring the packages would have made.
var settings = []file{
	{name: "etc/passwd", text: users},
	{name: "etc/group", text: groups},
	{name: "tmp/", mode: 0o1777},
	{name: "run/"},
	{name: "var/run", link: "/run"},
	{name: "srv/"},
	{name: "srv/index.html", text: "<p>It works.</p>\n"},
	{name: "etc/web.conf", text: webServer("80")},
	{name: "etc/hostnet.conf", text: webServer("12003")},
}

func webServer(port string) string {
	return `daemon off;
user www-data www-data;
worker_processes 1;
pid /var/run/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  server {
    listen ` + port + `;
    root /srv;
  }
}
`
}

// group puts the user of an image into a group.
var group = []file{
	{name: "etc/passwd", text: users + "default-user:x:1000:1000::/:/bin/sh\n"},
	{name: "etc/group", text: groups + "default-user:x:1000:\ngroup-defined-in-image:x:50000:default-user\n"},
}

// wheel puts root into a group, and adds a user, as in the published image of busybox.
var wheel = []file{
	{name: "etc/passwd", text: users + "daemon:x:1:1::/:/bin/false\n"},
	{name: "etc/group", text: groups + "daemon:x:1:\nwheel:x:10:root\n"},
}

// alpine identifies itself, and names its shell by an absolute path.
var alpine = []file{
	{name: "etc/os-release", text: "NAME=\"Alpine Linux\"\nID=alpine\n"},
	{name: "bin/sh", link: "/bin/busybox"},
}

// copiedUp are the files of an image's volumes.
var copiedUp = []file{
	{name: "test_dir/test_file", text: "test_content\n"},
	{name: "C:/weird_test_dir/weird_test_file", text: "test_content\n"},
	{name: ":colon_prefixed/colon_prefixed_file", text: "test_content\n"},
}

// files makes a layer. Writes to memory do not fail.
func files(all ...file) ggcr.Layer {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range all {
		header := tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.text)), Linkname: f.link, Typeflag: tar.TypeReg, Uid: f.owner, Gid: f.owner}
		switch {
		case f.link != "":
			header.Typeflag = tar.TypeSymlink
		case f.name[len(f.name)-1] == '/':
			header.Typeflag = tar.TypeDir
		}
		if header.Mode == 0 {
			header.Mode = 0o755
		}
		_ = w.WriteHeader(&header)
		_, _ = w.Write([]byte(f.text))
	}
	_ = w.Close()
	return static.NewLayer(b.Bytes(), types.OCIUncompressedLayer)
}
