// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hookline-nri/hookline/internal/archive"
)

// byRelease is the identity of the workflow for a tag.
const byRelease = "https://github.com/hookline-nri/hookline/.github/workflows/release.yml@refs/tags/v2.4.2+hookline.1"

// sigstore is one whose logs, and certificates of logs, are those of a test.
func sigstore(t *testing.T) *ca.VirtualSigstore {
	s, err := ca.NewVirtualSigstore()
	require.NoError(t, err)
	return s
}

// withoutSCT is the signer of a release, without the one thing that the test's sigstore does not
// make: the promise of the log of certificates.
func withoutSCT(t *testing.T) signer {
	s, err := newSigner(githubActions, releaseWorkflow)
	require.NoError(t, err)
	s.requires = []verify.VerifierOption{verify.WithTransparencyLog(1), verify.WithObserverTimestamps(1)}
	return s
}

// signed returns the bundle of a signature, as cosign writes it to a file.
func signed(t *testing.T, by *ca.VirtualSigstore, identity, issuer string, text []byte) []byte {
	entity, err := by.SignWithVersion(identity, issuer, text, "v0.1")
	require.NoError(t, err)
	certificate, err := entity.VerificationContent()
	require.NoError(t, err)
	content, err := entity.SignatureContent()
	require.NoError(t, err)
	message := content.MessageSignatureContent()
	entries, err := entity.TlogEntries()
	require.NoError(t, err)
	times, err := entity.Timestamps()
	require.NoError(t, err)
	b := &protobundle.Bundle{
		MediaType: "application/vnd.dev.sigstore.bundle+json;version=0.1",
		VerificationMaterial: &protobundle.VerificationMaterial{
			Content: &protobundle.VerificationMaterial_X509CertificateChain{X509CertificateChain: &protocommon.X509CertificateChain{
				Certificates: []*protocommon.X509Certificate{{RawBytes: certificate.Certificate().Raw}},
			}},
			TimestampVerificationData: &protobundle.TimestampVerificationData{},
		},
		Content: &protobundle.Bundle_MessageSignature{MessageSignature: &protocommon.MessageSignature{
			MessageDigest: &protocommon.HashOutput{Algorithm: protocommon.HashAlgorithm_SHA2_256, Digest: message.Digest()},
			Signature:     message.Signature(),
		}},
	}
	for _, e := range entries {
		b.VerificationMaterial.TlogEntries = append(b.VerificationMaterial.TlogEntries, promised(t, by, e.TransparencyLogEntry()))
	}
	for _, at := range times {
		b.VerificationMaterial.TimestampVerificationData.Rfc3161Timestamps = append(
			b.VerificationMaterial.TimestampVerificationData.Rfc3161Timestamps, &protocommon.RFC3161SignedTimestamp{SignedTimestamp: at})
	}
	_, err = bundle.NewBundle(b)
	require.NoError(t, err)
	out, err := protojson.Marshal(b)
	require.NoError(t, err)
	return out
}

// promised completes an entry of the log with its kind and with the log's promise, which the test's
// sigstore keeps to itself.
func promised(t *testing.T, by *ca.VirtualSigstore, e *protorekor.TransparencyLogEntry) *protorekor.TransparencyLogEntry {
	promise, err := by.RekorSignPayload(tlog.RekorPayload{
		Body:           base64.StdEncoding.EncodeToString(e.GetCanonicalizedBody()),
		IntegratedTime: e.GetIntegratedTime(), LogIndex: e.GetLogIndex(), LogID: hex.EncodeToString(e.GetLogId().GetKeyId()),
	})
	require.NoError(t, err)
	e.KindVersion = &protorekor.KindVersion{Kind: "hashedrekord", Version: "0.0.1"}
	e.InclusionPromise = &protorekor.InclusionPromise{SignedEntryTimestamp: promise}
	return e
}

func TestVerify(t *testing.T) {
	sums := []byte("abc  archive.tar.gz\n")
	ours, others := sigstore(t), sigstore(t)
	s := withoutSCT(t)
	require.NoError(t, s.verify(ours, signed(t, ours, byRelease, githubActions, sums), sums))
	for name, c := range map[string]struct {
		signed []byte
		says   string
	}{
		"another sigstore":    {signed(t, others, byRelease, githubActions, sums), "not signed by a release of hookline"},
		"another text":        {signed(t, ours, byRelease, githubActions, []byte("other")), "not signed by a release of hookline"},
		"another repository":  {signed(t, ours, "https://github.com/other/hookline/.github/workflows/release.yml@refs/tags/v2", githubActions, sums), "not signed by a release of hookline"},
		"another workflow":    {signed(t, ours, "https://github.com/hookline-nri/hookline/.github/workflows/test.yml@refs/tags/v2", githubActions, sums), "not signed by a release of hookline"},
		"a branch":            {signed(t, ours, "https://github.com/hookline-nri/hookline/.github/workflows/release.yml@refs/heads/main", githubActions, sums), "not signed by a release of hookline"},
		"a longer repository": {signed(t, ours, "https://github.com/hookline-nri/hookline/.github/workflows/release.yml@refs/tags/v2/../../x", githubActions, sums), "not signed by a release of hookline"},
		"another issuer":      {signed(t, ours, byRelease, "https://accounts.example.com", sums), "not signed by a release of hookline"},
		"no bundle":           {[]byte("{}"), "signature SHA256SUMS.sigstore.json"},
		"half a bundle":       {[]byte(`{"mediaType":`), "signature SHA256SUMS.sigstore.json"},
	} {
		require.ErrorContains(t, s.verify(ours, c.signed, sums), c.says, name)
	}
}

// A certificate that is in no log of certificates is rejected.
func TestVerifyRequiresACertificateInALog(t *testing.T) {
	sums := []byte("abc  archive.tar.gz\n")
	ours := sigstore(t)
	s, err := newSigner(githubActions, releaseWorkflow)
	require.NoError(t, err)
	require.ErrorContains(t, s.verify(ours, signed(t, ours, byRelease, githubActions, sums), sums), "signed certificate timestamp")
}

// release makes a folder as one downloads it, and returns its archive.
func release(t *testing.T, by *ca.VirtualSigstore) (file string) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(program, []byte("it runs"), 0o755))
	file = filepath.Join(dir, "containerd-static-2.4.2+hookline.1-linux-amd64.tar.gz")
	require.NoError(t, archive.Write(file, []archive.File{{Name: "bin/containerd", Mode: 0o755, From: program}}, time.Unix(1, 0)))
	sums, err := archive.Sums(program, file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, sumsFile), []byte(sums), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, signature), signed(t, by, byRelease, githubActions, []byte(sums)), 0o600))
	return file
}

func TestUnpackVerified(t *testing.T) {
	ours := sigstore(t)
	s := withoutSCT(t)
	file := release(t, ours)
	dir := t.TempDir()
	require.NoError(t, s.unpackVerified(ours, file, dir))
	content, err := os.ReadFile(filepath.Join(dir, "containerd"))
	require.NoError(t, err)
	require.Equal(t, "it runs", string(content))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestUnpackRejects(t *testing.T) {
	ours := sigstore(t)
	s := withoutSCT(t)
	for name, c := range map[string]struct {
		change func(file string) error
		says   string
	}{
		"a byte more": {func(file string) error {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return os.WriteFile(file, append(content, 0), 0o600)
		}, "does not match its checksum"},
		"other checksums": {func(file string) error {
			sums, err := archive.Sums(file)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(filepath.Dir(file), sumsFile), []byte(sums), 0o600)
		}, "not signed by a release of hookline"},
		"no checksums": {func(file string) error { return os.Remove(filepath.Join(filepath.Dir(file), sumsFile)) }, "download SHA256SUMS and"},
		"no signature": {func(file string) error { return os.Remove(filepath.Join(filepath.Dir(file), signature)) }, "download it beside"},
		"a large sign": {func(file string) error {
			return os.Truncate(filepath.Join(filepath.Dir(file), signature), largestSums+1)
		}, "more than"},
		"a large list": {func(file string) error {
			return os.Truncate(filepath.Join(filepath.Dir(file), sumsFile), largestSums+1)
		}, "more than"},
		"a large archive": {func(file string) error { return os.Truncate(file, largestArchive+1) }, "more than"},
	} {
		file := release(t, ours)
		require.NoError(t, c.change(file))
		dir := t.TempDir()
		require.ErrorContains(t, s.unpackVerified(ours, file, dir), c.says, name)
		require.NoFileExists(t, filepath.Join(dir, "containerd"), name)
	}
}

// An archive that is signed under another name is not this one.
func TestUnpackRejectsAnotherName(t *testing.T) {
	ours := sigstore(t)
	file := release(t, ours)
	other := filepath.Join(filepath.Dir(file), "containerd-static-9.9.9+hookline.1-linux-amd64.tar.gz")
	require.NoError(t, os.Rename(file, other))
	require.ErrorContains(t, withoutSCT(t).unpackVerified(ours, other, t.TempDir()), "is not in the list of checksums")
}

// What "trusted-root" prints is what --trusted-root reads.
func TestTrustedRootFromAFile(t *testing.T) {
	ours := sigstore(t)
	logs := ours.RekorLogs()
	for id, log := range logs {
		raw, err := hex.DecodeString(id)
		require.NoError(t, err)
		log.ID = raw
	}
	made, err := root.NewTrustedRoot(root.TrustedRootMediaType01, ours.FulcioCertificateAuthorities(), nil, ours.TimestampingAuthorities(), logs)
	require.NoError(t, err)
	text, err := made.MarshalJSON()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "trusted-root.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	trusted, err := trustedRoot(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, withoutSCT(t).unpackVerified(trusted, release(t, ours), t.TempDir()))

	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o600))
	_, err = trustedRoot(t.Context(), file)
	require.ErrorContains(t, err, "--trusted-root "+file)
	_, err = trustedRoot(t.Context(), file+".none")
	require.ErrorContains(t, err, "no such file")
}

func TestCommandLine(t *testing.T) {
	run := func(args ...string) (string, error) {
		c := command()
		var out bytes.Buffer
		c.Writer, c.ErrWriter = &out, &out
		err := c.Run(t.Context(), append([]string{"hookline-install"}, args...))
		return out.String(), err
	}
	_, err := run("install", "--root", "/no/such/folder", "--from", "x")
	require.ErrorContains(t, err, "--root /no/such/folder: no such folder")
	_, err = run("check", "more")
	require.ErrorContains(t, err, "check takes no arguments")
	_, err = run("install", "--root", t.TempDir())
	require.ErrorContains(t, err, "from")
	if os.Geteuid() != 0 {
		return
	}
	_, err = run("install", "--root", t.TempDir(), "--from", "/no/such/archive.tar.gz")
	require.ErrorContains(t, err, "--from: ")
	_, err = run("install", "--root", t.TempDir(), "--from", t.TempDir())
	require.ErrorContains(t, err, "is no archive of a release")
	_, err = run("install", "--root", t.TempDir(), "--unsigned", "--from", release(t, sigstore(t)))
	require.ErrorContains(t, err, "is no folder")
	_, err = run("install", "--root", t.TempDir(), "--from", release(t, sigstore(t)), "--identity", "(")
	require.ErrorContains(t, err, `identity "("`)
	out, err := run("check", "--newer", "--root", t.TempDir())
	require.NoError(t, err, "containerd must start")
	require.Contains(t, out, "<4>hookline: ")
	out, err = run("undo", "--root", t.TempDir())
	require.NoError(t, err)
	require.Contains(t, out, "nothing is left")
}
