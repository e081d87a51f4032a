// etcd, kube-apiserver, kube-scheduler and kube-controller-manager of the cluster, as kubeadm starts them.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pkiFolder } from './certificates.ts';
import { inNamespace } from './run-program.ts';
import { apiAddress, type ClusterSettings, namespaceOf } from './settings.ts';

type Component = 'etcd' | 'kube-apiserver' | 'kube-scheduler' | 'kube-controller-manager';

const restartAfterMs = 1_000;
const stopMsMax = 20_000;

/** Components are started again a second after they ended, as the kubelet does with static pods, unless they were stopped. */
export class ControlPlane {
  readonly #settings: ClusterSettings;
  readonly #running = new Map<Component, ChildProcess>();
  readonly #wanted = new Set<Component>();
  /** `--controllers` of kube-controller-manager from its next start on. */
  controllers: string;

  constructor(settings: ClusterSettings, controllers: string) {
    this.#settings = settings;
    this.controllers = controllers;
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(this.#path('admission.json'), JSON.stringify(podSecurity));
    writeFileSync(this.#path('audit.json'), JSON.stringify(auditPolicy));
  }

  get #folder(): string {
    return join(this.#settings.folder, 'control-plane');
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  /** Writes and evictions that the API server answered, as its audit log has them. */
  get auditLog(): string {
    return this.#path('audit.log');
  }

  /** What a component wrote, of all its starts. */
  logOf(component: Component): string {
    return this.#path(`${component}.log`);
  }

  start(...components: readonly Component[]): void {
    for (const component of components) {
      this.#wanted.add(component);
      if (!this.#running.has(component)) this.#spawn(component);
    }
  }

  /** Ends a component, and waits until it has ended. */
  async stop(component: Component, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#wanted.delete(component);
    const child = this.#running.get(component);
    if (child === undefined) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await Promise.race([ended, sleep(stopMsMax, undefined, { ref: false }).then(() => child.kill('SIGKILL'))]);
    await ended;
  }

  /** SIGSTOP, SIGCONT. */
  signal(component: Component, signal: NodeJS.Signals): void {
    this.#running.get(component)?.kill(signal);
  }

  async stopAll(): Promise<void> {
    for (const component of this.#running.keys()) this.signal(component, 'SIGCONT');
    for (const component of ['kube-controller-manager', 'kube-scheduler', 'kube-apiserver', 'etcd'] as const)
      await this.stop(component);
  }

  #spawn(component: Component): void {
    const { programs } = this.#settings;
    const [program, args] = inNamespace(
      namespaceOf(this.#settings, 'cp'),
      join(programs, component),
      this.#flags(component),
    );
    const log = openSync(this.logOf(component), 'a');
    const child = spawn(program, args, { stdio: ['ignore', log, log] });
    closeSync(log);
    this.#running.set(component, child);
    child.once('exit', () => {
      this.#running.delete(component);
      setTimeout(() => {
        if (this.#wanted.has(component) && !this.#running.has(component)) this.#spawn(component);
      }, restartAfterMs).unref();
    });
  }

  #flags(component: Component): readonly string[] {
    const { folder } = this.#settings;
    const client = (name: string): readonly string[] =>
      ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map(
        (flag) => `--${flag}=${join(folder, `${name}.conf`)}`,
      );
    switch (component) {
      case 'etcd':
        return [
          `--data-dir=${this.#path('etcd')}`,
          '--listen-client-urls=http://127.0.0.1:2379',
          '--advertise-client-urls=http://127.0.0.1:2379',
          '--listen-peer-urls=http://127.0.0.1:2380',
          '--unsafe-no-fsync',
          '--log-level=warn',
        ];
      case 'kube-apiserver':
        return this.#apiServerFlags();
      case 'kube-scheduler':
        return [...client('scheduler'), '--leader-elect=false', '--bind-address=127.0.0.1'];
      case 'kube-controller-manager':
        return [...client('controllers'), ...this.#controllerManagerFlags()];
    }
  }

  #controllerManagerFlags(): readonly string[] {
    const pki = pkiFolder(this.#settings);
    return [
      `--controllers=${this.controllers}`,
      '--leader-elect=true',
      '--bind-address=127.0.0.1',
      '--use-service-account-credentials',
      '--v=2',
      `--root-ca-file=${join(pki, 'ca.crt')}`,
      `--service-account-private-key-file=${join(pki, 'sa.key')}`,
      `--cluster-signing-cert-file=${join(pki, 'ca.crt')}`,
      `--cluster-signing-key-file=${join(pki, 'ca.key')}`,
    ];
  }

  #apiServerFlags(): readonly string[] {
    const pki = pkiFolder(this.#settings);
    const files = {
      'tls-cert-file': 'apiserver.crt',
      'tls-private-key-file': 'apiserver.key',
      'client-ca-file': 'ca.crt',
      'service-account-key-file': 'sa.pub',
      'service-account-signing-key-file': 'sa.key',
      'kubelet-client-certificate': 'kubelet-client.crt',
      'kubelet-client-key': 'kubelet-client.key',
      'kubelet-certificate-authority': 'ca.crt',
      'requestheader-client-ca-file': 'front-proxy-ca.crt',
      'proxy-client-cert-file': 'front-proxy-client.crt',
      'proxy-client-key-file': 'front-proxy-client.key',
    };
    const address = apiAddress(this.#settings);
    return [
      '--etcd-servers=http://127.0.0.1:2379',
      `--bind-address=${address}`,
      `--advertise-address=${address}`,
      '--secure-port=6443',
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      `--admission-control-config-file=${this.#path('admission.json')}`,
      `--audit-policy-file=${this.#path('audit.json')}`,
      `--audit-log-path=${this.auditLog}`,
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-cluster-ip-range=${this.#settings.network.services}.0.0/16`,
      '--kubelet-preferred-address-types=InternalIP',
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      ...Object.entries(files).map(([flag, file]) => `--${flag}=${join(pki, file)}`),
    ];
  }
}

/** Pods are restricted everywhere but in kube-system. */
const podSecurity = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AdmissionConfiguration',
  plugins: [
    {
      name: 'PodSecurity',
      configuration: {
        apiVersion: 'pod-security.admission.config.k8s.io/v1',
        kind: 'PodSecurityConfiguration',
        defaults: { enforce: 'restricted', 'enforce-version': 'latest' },
        exemptions: { namespaces: ['kube-system'] },
      },
    },
  ],
};

const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    {
      level: 'Metadata',
      verbs: ['delete', 'patch', 'update', 'create', 'deletecollection'],
      resources: [{ group: '', resources: ['nodes', 'nodes/status', 'pods', 'pods/eviction'] }],
    },
    { level: 'None' },
  ],
};
