// Arguments of programs that only tests give.
import type { AuditRule } from './control-plane.ts';

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
