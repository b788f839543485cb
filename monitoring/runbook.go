// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"fmt"
	"strings"
)

// Runbook returns the entries of alerts in Markdown, each below a heading with its name.
func Runbook(alerts []Alert) string {
	var b strings.Builder
	for _, a := range alerts {
		held := "at once"
		if a.For != "" {
			held = "after " + a.For
		}
		look := a.Look
		if a.Log != "" {
			look += fmt.Sprintf(" containerd's log: `%s`.", strings.TrimSpace(a.Log))
		}
		fmt.Fprintf(&b, "### %s\n\n*%s, %s.* %s\n\n- **Look at:** %s\n- **Do:** %s\n\n", a.Name, a.Severity, held, a.Means, look, a.Do)
		fmt.Fprintf(&b, "```promql\n%s\n```\n\n", a.Expr)
	}
	return b.String()
}
