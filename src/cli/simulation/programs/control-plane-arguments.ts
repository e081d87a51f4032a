// Arguments of etcd and kube-apiserver: loopback only, all files in one folder, fast instead of durable.
import type { Credentials } from './control-plane-credentials.ts';

export interface Ports {
  readonly etcdClient: number;
  readonly etcdPeer: number;
  readonly apiServer: number;
}

export function etcdArguments(folder: string, ports: Ports): readonly string[] {
  const clientUrl = `http://127.0.0.1:${ports.etcdClient}`;
  return [
    `--data-dir=${folder}/etcd`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=http://127.0.0.1:${ports.etcdPeer}`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ];
}

export function apiServerArguments(
  folder: string,
  ports: Ports,
  credentials: Credentials,
  serviceAccounts = false,
): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcdClient}`,
    `--secure-port=${ports.apiServer}`,
    '--bind-address=127.0.0.1',
    // Otherwise it requires a non-loopback address and does not start without one. Endpoints cannot contain loopback
    // addresses, so it publishes none.
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    `--cert-dir=${folder}/certificates`,
    `--service-account-key-file=${credentials.serviceAccountKeyFile}`,
    `--service-account-signing-key-file=${credentials.serviceAccountKeyFile}`,
    '--service-account-issuer=https://control-plane.local',
    `--token-auth-file=${credentials.tokenFile}`,
    '--authorization-mode=RBAC',
    // As in the embedded server.
    '--service-cluster-ip-range=10.96.0.0/16',
    // Pods would require the default service account, which only a controller creates.
    ...(serviceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
  ];
}
