// What a node has on its disk before it boots for the first time.
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pkiFolder } from './certificates.ts';
import { type ClusterSettings, nodeFolder, type NodeName, numberOf } from './settings.ts';

export const pauseImage = 'cluster.local/pause:1';
export const workloadImage = 'cluster.local/workload:1';

export function writeNodeFiles(settings: ClusterSettings, node: NodeName): void {
  const folder = nodeFolder(settings, node);
  const networks = join(folder, 'root/etc/cni/net.d');
  mkdirSync(networks, { recursive: true });
  mkdirSync(join(folder, 'root/etc/kubernetes/manifests'), { recursive: true });
  writeFileSync(join(folder, 'machine-id'), `${randomUUID().replaceAll('-', '')}\n`);
  writeFileSync(join(folder, 'containerd.toml'), containerdConfig(settings));
  writeFileSync(join(networks, '10-bridge.conflist'), JSON.stringify(podNetwork(settings, node)));
  writeFileSync(join(folder, 'kubelet.json'), JSON.stringify(kubeletConfig(settings, node)));
  writeFileSync(join(folder, 'kube-proxy.json'), JSON.stringify(proxyConfig(settings)));
}

/** Pods of the node. The control plane and the nodes have routes to each other's. */
export function podSubnet({ network }: ClusterSettings, node: NodeName): string {
  return `${network.pods}.${numberOf(node)}.0/24`;
}

function containerdConfig({ programs }: ClusterSettings): string {
  const unused = ['btrfs', 'zfs', 'devmapper', 'erofs', 'blockfile'].map(
    (name) => `io.containerd.snapshotter.v1.${name}`,
  );
  const runtime = `[plugins."io.containerd.cri.v1.runtime"`;
  return [
    'version = 3',
    'oom_score = 0',
    `disabled_plugins = ${JSON.stringify([...unused, 'io.containerd.nri.v1.nri'])}`,
    `${runtime}]`,
    // Root may lack CAP_SYS_RESOURCE, which a lower score of a process needs.
    'restrict_oom_score_adj = true',
    `${runtime}.cni]`,
    `bin_dirs = [${JSON.stringify(join(programs, 'cni'))}]`,
    `${runtime}.containerd.runtimes.runc]`,
    'runtime_type = "io.containerd.runc.v2"',
    `${runtime}.containerd.runtimes.runc.options]`,
    `BinaryName = ${JSON.stringify(join(programs, 'runc'))}`,
    'SystemdCgroup = false',
    '[plugins."io.containerd.cri.v1.images".pinned_images]',
    `sandbox = ${JSON.stringify(pauseImage)}`,
    '',
  ].join('\n');
}

function podNetwork(settings: ClusterSettings, node: NodeName): object {
  const ipam = {
    type: 'host-local',
    ranges: [[{ subnet: podSubnet(settings, node) }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, hairpinMode: true, ipMasq: false, ipam };
  return { cniVersion: '1.0.0', name: 'pods', plugins: [bridge] };
}

function kubeletConfig(settings: ClusterSettings, node: NodeName): object {
  const pki = pkiFolder(settings);
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: join(pki, 'ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: join(pki, `${node}-server.crt`),
    tlsPrivateKeyFile: join(pki, `${node}-server.key`),
    clusterDomain: 'cluster.local',
    // Nothing answers there: names do not resolve.
    clusterDNS: [`${settings.network.services}.0.10`],
    resolvConf: '/etc/resolv.conf',
    oomScoreAdj: 0,
    maxOpenFiles: 20_000,
    staticPodPath: '/etc/kubernetes/manifests',
    // Images come from archives, and no registry has them: one that was removed because the disk of this machine is full is lost.
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
  };
}

function proxyConfig(settings: ClusterSettings): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    clientConnection: { kubeconfig: join(settings.folder, 'proxy.conf') },
    clusterCIDR: `${settings.network.pods}.0.0/16`,
    // The defaults would set limits of the whole machine.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    oomScoreAdj: 0,
  };
}
