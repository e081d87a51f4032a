// Marshal reads a list of objects in JSON from standard input, and writes each one as the Go client encodes it in protobuf:
// one line of base64 for each object. A field that the Go type does not have is an error.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	kubejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var objects []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		return err
	}
	for index, object := range objects {
		encoded, err := marshal(object)
		if err != nil {
			return fmt.Errorf("object %d: %w", index, err)
		}
		fmt.Println(base64.StdEncoding.EncodeToString(encoded))
	}
	return nil
}

func marshal(object []byte) ([]byte, error) {
	strict := kubejson.SerializerOptions{Strict: true}
	reader := kubejson.NewSerializerWithOptions(kubejson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, strict)
	typed, _, err := reader.Decode(object, nil, nil)
	if err != nil {
		return nil, err
	}
	var encoded bytes.Buffer
	err = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(typed, &encoded)
	return encoded.Bytes(), err
}
