// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hookline-nri/hookline/conformance"
	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/integration/peers"
	"github.com/hookline-nri/hookline/integration/suites"
	"github.com/hookline-nri/hookline/testkit/image"
)

// casePatience is how long one case may take. A case takes all of it if the runtime hangs.
const casePatience = 90 * time.Second

// ofCritest is the prefix of the names of critest's cases, and ofNRI matches those of NRI.
const ofCritest, ofNRI = "[k8s.io] ", `\[k8s.io\] NRI `

// crioCases runs nri-conformance and critest's cases of NRI, each on a CRI-O of its own.
func (a *app) crioCases(ctx context.Context, r peerRun, side string, names []string) (suites.Results, error) {
	registry, err := a.critestImages(ctx, r.images)
	if err != nil {
		return nil, err
	}
	options := peers.CRIOOptions{Bin: filepath.Join(r.out, side), Tools: r.tools, Images: registry, PluginTimeout: pluginTimeout}
	var ours, focus []string
	for _, name := range names {
		if strings.HasPrefix(name, ofCritest) {
			focus = append(focus, regexp.QuoteMeta(name)+"$")
		} else {
			ours = append(ours, name)
		}
	}
	results := suites.Results{}
	if len(ours) > 0 || len(names) == 0 {
		found, err := a.crioConformance(ctx, options, filepath.Join(r.out, side, "conformance"), r.soon, ours)
		if err != nil {
			return nil, err
		}
		maps.Copy(results, found)
	}
	if len(names) == 0 {
		focus = []string{ofNRI}
	}
	if len(focus) > 0 {
		options.PluginTimeout = critestRequest
		found, err := a.crioCritest(ctx, options, filepath.Join(r.out, side, "critest"), focus)
		if err != nil {
			return nil, err
		}
		maps.Copy(results, found)
	}
	return results, nil
}

// crioConformance runs nri-conformance on a CRI-O, and puts its reports into a folder.
func (a *app) crioConformance(ctx context.Context, o peers.CRIOOptions, folder string, soon time.Duration, names []string) (_ suites.Results, retErr error) {
	if err := report.Prepare(folder); err != nil {
		return nil, err
	}
	c, err := peers.StartCRIO(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, keepLog(c, folder), c.Close()) }()
	bin, conf, state := c.CNI()
	document, err := conformance.Run(ctx, conformance.Options{
		CRI: c.CRISocket(), NRI: c.NRISocket(), Image: image.Name, CgroupParent: c.PodCgroup(), State: state, CNIBin: bin, CNIConf: conf,
		Stop: c.Stop, Kill: c.Kill, Boot: c.Boot, Cases: names, Soon: soon, Timeout: casePatience,
		Command: []string{"go", "run", "./hack", "peers", "--only", "crio"}, Version: "of this tree", Step: a.progress.Step,
	})
	if document == nil {
		return nil, err
	}
	results := suites.Results{}
	for _, run := range document.Cases {
		results[run.Name] = suites.Result{State: string(run.Verdict), Reason: run.Reason}
	}
	return results, errors.Join(err, document.WriteAll(folder, false))
}

// crioCritest runs cases of critest on a CRI-O, and puts its output and reports into a folder.
func (a *app) crioCritest(ctx context.Context, o peers.CRIOOptions, folder string, focus []string) (_ suites.Results, retErr error) {
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return nil, err
	}
	program, err := a.buildCritest(ctx, filepath.Dir(filepath.Dir(folder)))
	if err != nil {
		return nil, err
	}
	c, err := peers.StartCRIO(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, keepLog(c, folder), c.Close()) }()
	defer a.progress.Step("critest's cases of NRI")()
	results, err := suites.OnRuntime(ctx, c, folder, program, focus)
	wanted := regexp.MustCompile(strings.Join(focus, "|"))
	maps.DeleteFunc(results, func(name string, _ suites.Result) bool { return !wanted.MatchString(name) })
	return results, err
}

// keepLog copies the log of a CRI-O into a folder.
func keepLog(c *peers.CRIO, folder string) error {
	log, err := c.Log()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "crio.log"), []byte(log), 0o644)
}
