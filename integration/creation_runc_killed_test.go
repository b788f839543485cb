// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// killedText stands in the place of runc, and kills it once it has made the cgroup of a
// container that it creates.
const killedText = `#!/bin/sh
for id; do :; done
case " $* " in
*" create "*) ;;
*) exec '@RUNC@' "$@" ;;
esac
'@RUNC@' "$@" &
until [ -d "/sys/fs/cgroup/@PARENT@/$id" ] || [ -d "/sys/fs/cgroup/pids/@PARENT@/$id" ]; do
	kill -0 $! || exit 1
done
kill -9 $!
exit 1
`

// The kernel may kill runc for want of memory, and a shim whose connection ends does.
func TestL7_RuncThatIsKilledLeavesNothing(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	link := filepath.Join(n.Folder(), "bin", "runc")
	program, err := os.Readlink(link)
	require.NoError(t, err)
	text := strings.NewReplacer("@RUNC@", program, "@PARENT@", n.PodCgroup()).Replace(killedText)
	require.NoError(t, os.WriteFile(link+".new", []byte(text), 0o755))
	require.NoError(t, os.Rename(link+".new", link))

	ctx, c := withinAMinute(t), n.CRI()
	for _, name := range []string{"first", "second", "third"} {
		_, err = c.RunPod(ctx, c.Pod(name))
		require.Error(t, err)
	}
	promise(t, "L7", "nothing is left of a pod whose runc was killed", onStock("its cgroup stays"), func(t require.TestingT) {
		requireNothingLeft(t, n)
	})
}
