// Command descriptor writes the descriptors of Crossplane's render protocol, and of all it imports, to standard output.
package main

import (
	"os"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	render "github.com/crossplane/crossplane/v2/proto/render/v1alpha1"
)

func main() {
	set := &descriptorpb.FileDescriptorSet{}
	add(set, map[string]bool{}, (&render.RenderRequest{}).ProtoReflect().Descriptor().ParentFile())
	out, err := proto.Marshal(set)
	if err != nil {
		panic(err)
	}
	if _, err := os.Stdout.Write(out); err != nil {
		panic(err)
	}
}

// add appends file after the files it imports, each once: a reader's pool takes them in this order.
func add(set *descriptorpb.FileDescriptorSet, seen map[string]bool, file protoreflect.FileDescriptor) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	for i := range file.Imports().Len() {
		add(set, seen, file.Imports().Get(i).FileDescriptor)
	}
	set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
}
