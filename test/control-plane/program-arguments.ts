// Arguments of each program: loopback only, all files in one folder, fast instead of durable.
import type { AuditRule } from './control-plane.ts';
import type { Credentials } from './credentials.ts';

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
    '--service-account-issuer=https://control-plane.test',
    `--token-auth-file=${credentials.tokenFile}`,
    '--authorization-mode=RBAC',
    // As in the embedded server.
    '--service-cluster-ip-range=10.96.0.0/16',
    // Pods would require the default service account, which only a controller creates.
    ...(serviceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
  ];
}

export function auditArguments(policyFile: string, logFile: string): readonly string[] {
  return [`--audit-policy-file=${policyFile}`, `--audit-log-path=${logFile}`];
}

export function auditPolicyText(rules: readonly AuditRule[]): string {
  return JSON.stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules,
  });
}

interface ControllerManagerFiles {
  readonly kubeconfigFile: string;
  readonly serviceAccountKeyFile: string;
  readonly caFile: string;
  readonly certificateFolder: string;
}

export function controllerManagerArguments(files: ControllerManagerFiles, port: number): readonly string[] {
  return [
    `--kubeconfig=${files.kubeconfigFile}`,
    `--authentication-kubeconfig=${files.kubeconfigFile}`,
    `--authorization-kubeconfig=${files.kubeconfigFile}`,
    `--service-account-private-key-file=${files.serviceAccountKeyFile}`,
    `--root-ca-file=${files.caFile}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${files.certificateFolder}`,
    '--leader-elect=false',
  ];
}
