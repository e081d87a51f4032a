// The steps of the kubelet parity test. Each step continues from the state of the previous one.
import type { RestClient } from '../rest-client.ts';
import { nodeName, type Step, type View } from './kubelet-side.ts';

const node = `/api/v1/nodes/${nodeName}`;
const lease = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}`;
const pods = '/api/v1/namespaces/default/pods';
const mirror = `/api/v1/namespaces/kube-system/pods/stat-${nodeName}`;
const webMirror = `/api/v1/namespaces/kube-system/pods/web-${nodeName}`;
const strategic = { contentType: 'application/strategic-merge-patch+json' } as const;
/** A kubelet updates its node status every 10 s. */
const twoLooksMs = 21_000;
const hostPort = { containerPort: 80, hostPort: 8_080 } as const;
/** No controller evicts the pods of this test. */
const tolerations = [{ operator: 'Exists' }] as const;

interface Seen {
  readonly metadata: { readonly uid: string; readonly labels?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Undefined if it does not exist. */
async function look(client: RestClient, path: string): Promise<Seen | undefined> {
  const { status, body } = await client.send<Seen>('GET', path);
  return status === 200 ? body : undefined;
}

async function phaseOf(client: RestClient, path: string): Promise<string | undefined> {
  return (await look(client, path))?.status?.phase;
}

function isReady({ client }: View): Promise<boolean> {
  return hasReady(client, node);
}

/** The Ready condition of a node or a pod. */
async function hasReady(client: RestClient, path: string): Promise<boolean> {
  const conditions = (await look(client, path))?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

async function isGone(client: RestClient, path: string): Promise<boolean> {
  return (await client.send('GET', path)).status === 404;
}

function bind(client: RestClient, name: string, spec: object): Promise<unknown> {
  const pod = { metadata: { name }, spec: { nodeName, tolerations, ...spec } };
  return client.must('POST', pods, pod);
}

/** `requests` of its only container. */
function container(requests: Readonly<Record<string, string>> = {}): object {
  return { name: 'c', image: 'img:1', ...(Object.keys(requests).length === 0 ? {} : { resources: { requests } }) };
}

function staticPod(name: string, app: string): object {
  const metadata = { name, namespace: 'kube-system', labels: { app } };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container()] } };
}

/** The uid of the deleted mirror pod, by control plane. */
const deletedMirrors = new WeakMap<RestClient, string>();

const beginning: readonly Step[] = [
  {
    id: 'register',
    name: 'the kubelet starts for the first time',
    act: ({ kubelet }) => kubelet.start(),
    isDone: isReady,
    renewals: 2,
    order: [['CREATE 201 nodes', 'CREATE 201 leases']],
  },
  {
    id: 'bound',
    name: 'a pod is bound to it whose pull secret does not exist',
    act: ({ client }) => bind(client, 'bound', { containers: [container()], imagePullSecrets: [{ name: 'missing' }] }),
    isDone: async ({ client }) => (await phaseOf(client, `${pods}/bound`)) === 'Running',
  },
];

const staticPods: readonly Step[] = [
  {
    id: 'static',
    name: 'a static pod is written',
    act: async (world) => world.writeStaticPod(JSON.stringify(staticPod('stat', 's'))),
    isDone: async ({ client }) => (await phaseOf(client, mirror)) === 'Running',
  },
  {
    id: 'mirror',
    name: 'a client deletes its mirror pod',
    act: async ({ client }) => {
      const { metadata } = await client.must<Seen>('GET', mirror);
      deletedMirrors.set(client, metadata.uid);
      await client.must('DELETE', mirror);
    },
    isDone: async ({ client }) => {
      const seen = await look(client, mirror);
      return seen?.status?.phase === 'Running' && seen.metadata.uid !== deletedMirrors.get(client);
    },
  },
];

const leaving: readonly Step[] = [
  {
    id: 'leave',
    name: 'the bound pod is deleted, with 5 s of grace',
    act: ({ client }) => client.must('DELETE', `${pods}/bound`, { gracePeriodSeconds: 5 }),
    isDone: async ({ client }) => isGone(client, `${pods}/bound`),
  },
  {
    id: 'lease',
    name: 'a client deletes its lease',
    act: ({ client }) => client.must('DELETE', lease),
    isDone: async ({ client }) => !(await isGone(client, lease)),
    renewals: 2,
    order: [
      ['GET 404 leases', 'GET 200 nodes'],
      ['GET 200 nodes', 'CREATE 201 leases'],
    ],
  },
  {
    id: 'changed',
    name: 'the static pod is written again with another label',
    act: async (world) => world.writeStaticPod(JSON.stringify(staticPod('stat', 't'))),
    isDone: async ({ client }) => {
      const seen = await look(client, mirror);
      return seen?.metadata.labels?.['app'] === 't' && seen.status?.phase === 'Running';
    },
  },
  {
    id: 'removed',
    name: 'the static pod is removed',
    act: async (world) => world.writeStaticPod(undefined),
    isDone: async ({ client }) => isGone(client, mirror),
  },
];

const fromUrl: readonly Step[] = [
  {
    id: 'served',
    name: 'the URL serves a static pod',
    act: async (world) => world.serveStaticPods([staticPod('web', 'w')]),
    isDone: async ({ client }) => (await phaseOf(client, webMirror)) === 'Running',
  },
  {
    id: 'unserved',
    name: 'the URL no longer serves it',
    act: async (world) => world.serveStaticPods([]),
    isDone: async ({ client }) => isGone(client, webMirror),
  },
];

/** A command that the fake runtime of the real kubelet always runs with success. */
const exec = { command: ['true'] } as const;

const probed: readonly Step[] = [
  {
    id: 'ready',
    name: 'a pod is bound whose readiness probe begins after 6 s',
    act: ({ client }) => {
      const readinessProbe = { exec, initialDelaySeconds: 6, periodSeconds: 2 };
      const lifecycle = { preStop: { sleep: { seconds: 4 } } };
      return bind(client, 'probed', { containers: [{ ...container(), readinessProbe, lifecycle }] });
    },
    isDone: async ({ client }) => hasReady(client, `${pods}/probed`),
    notBeforeMs: 6_000,
  },
  {
    id: 'startup',
    name: 'a pod is bound whose startup probe begins after 4 s, with a host port',
    act: ({ client }) => {
      const startupProbe = { exec, initialDelaySeconds: 4, periodSeconds: 2 };
      const others = { readinessProbe: { exec }, livenessProbe: { exec }, ports: [hostPort] };
      return bind(client, 'startup', { containers: [{ ...container(), startupProbe, ...others }] });
    },
    isDone: async ({ client }) => hasReady(client, `${pods}/startup`),
    notBeforeMs: 4_000,
  },
  {
    id: 'sleep',
    name: 'a pod is deleted whose preStop hook sleeps for 4 s',
    act: ({ client }) => client.must('DELETE', `${pods}/probed`),
    isDone: async ({ client }) => isGone(client, `${pods}/probed`),
    notBeforeMs: 4_000,
  },
];

const refused: readonly Step[] = [
  {
    id: 'port',
    name: 'a pod is bound whose host port is taken',
    act: ({ client }) => bind(client, 'port', { containers: [{ ...container(), ports: [hostPort] }] }),
    isDone: async ({ client }) => (await phaseOf(client, `${pods}/port`)) === 'Failed',
  },
  {
    id: 'free',
    name: 'the pod with the host port is deleted',
    act: ({ client }) => client.must('DELETE', `${pods}/startup`),
    isDone: async ({ client }) => isGone(client, `${pods}/startup`),
  },
  {
    id: 'system',
    name: 'a pod is bound for another operating system',
    act: ({ client }) => bind(client, 'system', { containers: [container()], os: { name: 'windows' } }),
    isDone: async ({ client }) => (await phaseOf(client, `${pods}/system`)) === 'Failed',
  },
  {
    id: 'big',
    name: 'a pod is bound that does not fit',
    act: ({ client }) => bind(client, 'big', { containers: [container({ cpu: '9k' })] }),
    isDone: async ({ client }) => (await phaseOf(client, `${pods}/big`)) === 'Failed',
  },
  {
    id: 'selector',
    name: 'a pod is bound whose selector does not match',
    act: ({ client }) =>
      bind(client, 'sel', { containers: [container()], nodeSelector: { 'example.com/other': 'yes' } }),
    isDone: async ({ client }) => (await phaseOf(client, `${pods}/sel`)) === 'Failed',
  },
  {
    id: 'label',
    name: 'a client changes a label of the node',
    act: ({ client }) =>
      client.must('PATCH', node, { metadata: { labels: { 'kubernetes.io/os': 'plan9' } } }, strategic),
    isDone: async ({ client }) => (await look(client, node))?.metadata.labels?.['kubernetes.io/os'] === 'linux',
  },
];

const again: readonly Step[] = [
  {
    id: 'restart',
    name: 'the kubelet is restarted',
    act: async ({ kubelet }) => {
      await kubelet.stop();
      await kubelet.start();
    },
    isDone: isReady,
    renewals: 2,
  },
  {
    id: 'node',
    name: 'its node is deleted',
    act: ({ client }) => client.must('DELETE', node),
    // The kubelet keeps reading it and does not register again.
    isDone: async ({ said, sinceMs }) => said.includes(`GET 404 nodes/${nodeName}`) && sinceMs >= twoLooksMs,
  },
  {
    id: 'reregister',
    name: 'the kubelet is restarted while the lease of the deleted node exists',
    act: async ({ kubelet }) => {
      await kubelet.stop();
      await kubelet.start();
    },
    isDone: isReady,
    renewals: 1,
  },
];

export const story: readonly Step[] = [
  ...beginning,
  ...staticPods,
  ...leaving,
  ...fromUrl,
  ...probed,
  ...refused,
  ...again,
];
