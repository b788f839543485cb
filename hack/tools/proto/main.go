// SPDX-License-Identifier: Apache-2.0

// Command proto generates the Go code of a .proto file, beside it or in the folder of --out:
//
//	go run -C hack/tools/proto . [--out dir] module path/to/file.proto
//
// The path is relative to the module's folder. Protobuf's registry knows the file by this path, which is
// the same upstream. Imports from CRI are taken from the
// descriptors in cri-api's Go code.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"google.golang.org/protobuf/types/pluginpb"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The descriptors that a file may import are registered by their packages.
var _, _ = wrapperspb.File_google_protobuf_wrappers_proto, cri.File_staging_src_k8s_io_cri_api_pkg_apis_runtime_v1_api_proto

func main() {
	out := flag.String("out", "", "`directory` of the generated file (default: that of the source)")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: proto [--out dir] module path/to/file.proto")
		os.Exit(2)
	}
	root, source := filepath.Join("..", "..", "..", flag.Arg(0)), flag.Arg(1)
	if *out == "" {
		*out = filepath.Join(root, filepath.Dir(source))
	}
	if err := generate(context.Background(), root, source, *out); err != nil {
		fmt.Fprintln(os.Stderr, "proto:", err)
		os.Exit(1)
	}
}

func generate(ctx context.Context, root, source, out string) error {
	request, err := compile(ctx, root, source)
	if err != nil {
		return err
	}
	wire, err := proto.Marshal(request)
	if err != nil {
		return fmt.Errorf("request for %s: %w", source, err)
	}
	plugin := exec.CommandContext(ctx, "go", "tool", "protoc-gen-go")
	plugin.Stdin, plugin.Stderr = bytes.NewReader(wire), os.Stderr
	if wire, err = plugin.Output(); err != nil {
		return fmt.Errorf("protoc-gen-go on %s: %w", source, err)
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(wire, response); err != nil {
		return fmt.Errorf("answer of protoc-gen-go on %s: %w", source, err)
	}
	if response.Error != nil {
		return fmt.Errorf("protoc-gen-go on %s: %s", source, response.GetError())
	}
	for _, file := range response.File {
		path := filepath.Join(out, filepath.Base(file.GetName()))
		if err := os.WriteFile(path, []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compile makes the request to a generator: the file, and before it all its imports.
func compile(ctx context.Context, root, source string) (*pluginpb.CodeGeneratorRequest, error) {
	compiler := protocompile.Compiler{
		Resolver: protocompile.CompositeResolver{
			protocompile.ResolverFunc(registered),
			&protocompile.SourceResolver{ImportPaths: []string{root}},
		},
		SourceInfoMode: protocompile.SourceInfoStandard, // for the comments
	}
	files, err := compiler.Compile(ctx, source)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: []string{source}}
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		request.ProtoFile = append(request.ProtoFile, protoutil.ProtoFromFileDescriptor(file))
	}
	add(files[0])
	return request, nil
}

func registered(path string) (protocompile.SearchResult, error) {
	file, err := protoregistry.GlobalFiles.FindFileByPath(path)
	return protocompile.SearchResult{Desc: file}, err
}
