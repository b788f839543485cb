// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/tuf"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/archive"
)

// Who signs the checksums of a release: the workflow that makes it, run for its tag.
const (
	releaseWorkflow = `^https://github\.com/hookline-nri/hookline/\.github/workflows/release\.yml@refs/tags/v[^/]+$`
	githubActions   = "https://token.actions.githubusercontent.com"
)

const (
	sumsFile  = "SHA256SUMS"
	signature = sumsFile + ".sigstore.json"

	largestSums    = 1 << 20 // bytes, also of a signature
	largestArchive = 1 << 30
)

// A signer is who must have signed.
type signer struct {
	identity verify.CertificateIdentity
	requires []verify.VerifierOption
}

func signerOf(cmd *cli.Command) (signer, error) {
	return newSigner(cmd.String("issuer"), cmd.String("identity"))
}

// newSigner returns a signer by the issuer of its identity, and a regular expression of that. Its
// certificate and its signature must be in the public logs.
func newSigner(issuer, identity string) (signer, error) {
	id, err := verify.NewShortCertificateIdentity(issuer, "", "", identity)
	if err != nil {
		return signer{}, fmt.Errorf("identity %q of issuer %q: %w", identity, issuer, err)
	}
	return signer{id, []verify.VerifierOption{
		verify.WithSignedCertificateTimestamps(1), verify.WithTransparencyLog(1), verify.WithObserverTimestamps(1),
	}}, nil
}

// trustedRoot returns the public keys of sigstore, from a file or else from its repository.
func trustedRoot(ctx context.Context, file string) (root.TrustedMaterial, error) {
	if file == "" {
		return fetchTrustedRoot(ctx)
	}
	content, err := readBounded(file, largestSums)
	if err != nil {
		return nil, fmt.Errorf("--trusted-root: %w", err)
	}
	trusted, err := root.NewTrustedRootFromJSON(content)
	if err != nil {
		return nil, fmt.Errorf("--trusted-root %s: %w", file, err)
	}
	return trusted, nil
}

func fetchTrustedRoot(ctx context.Context) (*root.TrustedRoot, error) {
	options := tuf.DefaultOptions().WithContext(ctx)
	options.DisableLocalCache = true // it leaves nothing on the node
	trusted, err := root.FetchTrustedRootWithOptions(options)
	if err != nil {
		return nil, fmt.Errorf("fetch the public keys of sigstore: %w: on a node without a network give --trusted-root, with what \"hookline-install trusted-root\" prints elsewhere", err)
	}
	return trusted, nil
}

func trustedRootCommand() *cli.Command {
	return &cli.Command{
		Name:  "trusted-root",
		Usage: "print the public keys of sigstore, for the option of install",
		Action: func(ctx context.Context, cmd *cli.Command) error {
			trusted, err := fetchTrustedRoot(ctx)
			if err != nil {
				return err
			}
			text, err := trusted.MarshalJSON()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.Root().Writer, "%s\n", text)
			return err
		},
	}
}

// unpackVerified unpacks an archive if the checksum of its release, which is signed, is that of the
// archive. The archive is copied first, so that no other process changes it in between.
func (s signer) unpackVerified(trusted root.TrustedMaterial, name, dir string) error {
	beside := filepath.Dir(name)
	sums, err := readBounded(filepath.Join(beside, sumsFile), largestSums)
	if err != nil {
		return fmt.Errorf("%w: download %s and %s beside the archive", err, sumsFile, signature)
	}
	signed, err := readBounded(filepath.Join(beside, signature), largestSums)
	if err != nil {
		return fmt.Errorf("%w: download it beside the archive", err)
	}
	if err := s.verify(trusted, signed, sums); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(beside, sumsFile), err)
	}
	want, err := archive.Listed(sums, filepath.Base(name))
	if err != nil {
		return err
	}
	own := filepath.Join(dir, "archive")
	if err := copyBounded(name, own, largestArchive); err != nil {
		return err
	}
	is, err := archive.Sum(own)
	if err != nil {
		return err
	}
	if is != want {
		return fmt.Errorf("%s does not match its checksum in %s: download it again", name, sumsFile)
	}
	return errors.Join(archive.Unpack(own, dir), os.Remove(own))
}

// verify checks the signature of a text.
func (s signer) verify(trusted root.TrustedMaterial, signed, text []byte) error {
	var b bundle.Bundle
	if err := b.UnmarshalJSON(signed); err != nil {
		return fmt.Errorf("signature %s: %w", signature, err)
	}
	if b.GetMessageSignature() == nil {
		return fmt.Errorf("signature %s signs no file: it may be an attestation", signature)
	}
	verifier, err := verify.NewVerifier(trusted, s.requires...)
	if err != nil {
		return err
	}
	policy := verify.NewPolicy(verify.WithArtifact(bytes.NewReader(text)), verify.WithCertificateIdentity(s.identity))
	if _, err := verifier.Verify(&b, policy); err != nil {
		return fmt.Errorf("not signed by a release of hookline: %w", err)
	}
	return nil
}

func readBounded(name string, most int64) ([]byte, error) {
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return content, err
}

func copyBounded(from, to string, most int64) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err := io.Copy(out, io.LimitReader(in, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("%s has more than %d bytes", from, most)
	}
	return err
}
