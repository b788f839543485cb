// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// killedText replaces runc, and kills it once it has made the cgroup of a container that it
// creates.
const killedText = `#!/bin/sh
for id; do :; done
case " $* " in
*" create "*) ;;
*) exec '@PROGRAM@' "$@" ;;
esac
'@PROGRAM@' "$@" &
until [ -d "/sys/fs/cgroup/@PARENT@/$id" ] || [ -d "/sys/fs/cgroup/pids/@PARENT@/$id" ]; do
	kill -0 $! || exit 1
done
kill -9 $!
exit 1
`

// The kernel may kill runc for want of memory, and a shim kills it when its connection ends.
func TestL7_RuncThatIsKilledLeavesNothing(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	StandIn(t, n, "bin/runc", killedText, "@PARENT@", n.PodCgroup())
	ctx, c := WithinAMinute(t), n.CRI()
	for _, name := range []string{"first", "second", "third"} {
		_, err := c.RunPod(ctx, c.Pod(name))
		require.Error(t, err)
	}
	Promise(t, "L7", "nothing is left of a pod whose runc was killed", OnStock("its cgroup stays"), func(t require.TestingT) {
		RequireNothingLeft(t, n)
	})
}
