// volume-driver is a CSI driver whose volumes are folders. A volume is attached to one node at a time, as a disk of a cloud is: the file
// VOLUME.node beside its folder names that node, and no other node mounts it.
//
// Without --node it attaches and detaches, for external-attacher; with it, it mounts on that node and registers itself with the kubelet there.
package main

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

const driverName = "volumes.cluster.local"

func main() {
	folder := flag.String("folder", "", "folder of all volumes")
	socket := flag.String("socket", "", "file of the socket of the driver")
	node := flag.String("node", "", "name of the node on which it mounts; empty: it attaches")
	kubelet := flag.String("registration", "", "file of the socket with which it registers itself with the kubelet")
	flag.Parse()
	server := grpc.NewServer(grpc.UnaryInterceptor(logCalls))
	csi.RegisterIdentityServer(server, &identity{attaches: *node == ""})
	if *node == "" {
		csi.RegisterControllerServer(server, &controller{folder: *folder})
	} else {
		csi.RegisterNodeServer(server, &nodeServer{folder: *folder, node: *node})
		registrar := grpc.NewServer()
		registration.RegisterRegistrationServer(registrar, &plugin{socket: *socket})
		go serve(registrar, *kubelet)
	}
	serve(server, *socket)
}

func serve(server *grpc.Server, socket string) {
	// A node that lost its power left its own.
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(socket), 0o755); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(server.Serve(listener))
}

func logCalls(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	response, err := handle(ctx, request)
	log.Printf("%s %v: %v", info.FullMethod, request, err)
	return response, err
}

// attachment is the name of the node to which a volume is attached; empty: to none.
func attachment(folder, volume string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, volume+".node"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

type identity struct {
	csi.UnimplementedIdentityServer
	attaches bool
}

func (*identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: driverName, VendorVersion: "1"}, nil
}

func (s *identity) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	if !s.attaches {
		return &csi.GetPluginCapabilitiesResponse{}, nil
	}
	service := &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE}
	capability := &csi.PluginCapability{Type: &csi.PluginCapability_Service_{Service: service}}
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{capability}}, nil
}

func (*identity) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

type controller struct {
	csi.UnimplementedControllerServer
	folder string
	mutex  sync.Mutex
}

func (*controller) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	rpc := &csi.ControllerServiceCapability_RPC{Type: csi.ControllerServiceCapability_RPC_PUBLISH_UNPUBLISH_VOLUME}
	capability := &csi.ControllerServiceCapability{Type: &csi.ControllerServiceCapability_Rpc{Rpc: rpc}}
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: []*csi.ControllerServiceCapability{capability}}, nil
}

func (s *controller) ControllerPublishVolume(_ context.Context, request *csi.ControllerPublishVolumeRequest) (*csi.ControllerPublishVolumeResponse, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	at, err := attachment(s.folder, request.VolumeId)
	if err != nil {
		return nil, err
	}
	if at != "" && at != request.NodeId {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is attached to node %s", request.VolumeId, at)
	}
	err = os.WriteFile(filepath.Join(s.folder, request.VolumeId+".node"), []byte(request.NodeId+"\n"), 0o644)
	return &csi.ControllerPublishVolumeResponse{}, err
}

func (s *controller) ControllerUnpublishVolume(_ context.Context, request *csi.ControllerUnpublishVolumeRequest) (*csi.ControllerUnpublishVolumeResponse, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	at, err := attachment(s.folder, request.VolumeId)
	if err == nil && at == request.NodeId {
		err = os.Remove(filepath.Join(s.folder, request.VolumeId+".node"))
	}
	return &csi.ControllerUnpublishVolumeResponse{}, err
}

type nodeServer struct {
	csi.UnimplementedNodeServer
	folder string
	node   string
}

func (s *nodeServer) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: s.node}, nil
}

func (*nodeServer) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

func (s *nodeServer) NodePublishVolume(_ context.Context, request *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	at, err := attachment(s.folder, request.VolumeId)
	if err != nil {
		return nil, err
	}
	if at != s.node {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is attached to node %q, not to %s", request.VolumeId, at, s.node)
	}
	volume := filepath.Join(s.folder, request.VolumeId)
	for _, each := range []string{volume, request.TargetPath} {
		if err := os.MkdirAll(each, 0o777); err != nil {
			return nil, err
		}
	}
	// A second request for the mount that is there.
	if same, err := isSameFolder(volume, request.TargetPath); same || err != nil {
		return &csi.NodePublishVolumeResponse{}, err
	}
	return &csi.NodePublishVolumeResponse{}, syscall.Mount(volume, request.TargetPath, "", syscall.MS_BIND, "")
}

func isSameFolder(one, other string) (bool, error) {
	first, err := os.Stat(one)
	if err != nil {
		return false, err
	}
	second, err := os.Stat(other)
	return err == nil && os.SameFile(first, second), err
}

func (*nodeServer) NodeUnpublishVolume(_ context.Context, request *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	// EINVAL: nothing is mounted there, as after a boot.
	err := syscall.Unmount(request.TargetPath, 0)
	if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOENT) {
		return nil, err
	}
	if err := os.Remove(request.TargetPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// plugin answers the kubelet, which watches the folder of registration sockets.
type plugin struct {
	registration.UnimplementedRegistrationServer
	socket string
}

func (p *plugin) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: driverName, Endpoint: p.socket, SupportedVersions: []string{"1.0.0"}}, nil
}

func (*plugin) NotifyRegistrationStatus(_ context.Context, result *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	log.Printf("registered: %t %s", result.PluginRegistered, result.Error)
	return &registration.RegistrationStatusResponse{}, nil
}
