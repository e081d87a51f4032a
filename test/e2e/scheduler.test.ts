// `nlc apiserver --scheduler`: pods are placed by requests over HTTP.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NlcProcess } from '../support/nlc-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

interface PodOnWire {
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

interface EventOnWire {
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string };
}

const pods = '/api/v1/namespaces/default/pods';

test('a pod is bound to the node that fits, another one reports why it fits none', { timeout: 30_000 }, async (t) => {
  const kubeconfig = join(tempFolder(), 'kubeconfig');
  const flags = ['--tls=false', '--port=0', '--scheduler', `--kubeconfig-out=${kubeconfig}`];
  const server = new NlcProcess(['apiserver', ...flags]);
  t.after(() => server.kill());
  await until(() => (server.stdout.includes('press Ctrl-C') ? true : undefined));
  const url = /listening on (\S+),/.exec(server.stdout)?.[1] ?? '';
  const token = /token: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';
  const send = async (path: string, body?: unknown): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(url + path, { headers, ...init });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return response.json();
  };
  const allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
  await send('/api/v1/nodes', { metadata: { name: 'small' }, status: { allocatable } });
  const taints = [{ key: 'a', value: 'b', effect: 'NoSchedule' }];
  await send('/api/v1/nodes', { metadata: { name: 'tainted' }, spec: { taints }, status: { allocatable } });
  const pod = (name: string, cpu: string): unknown => ({
    metadata: { name },
    spec: {
      containers: [{ name: 'main', image: 'a', resources: { requests: { cpu } } }],
      // Every new node has that taint until its controller removes it.
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }],
    },
  });
  await send(pods, pod('fits', '600m'));
  await send(pods, pod('waits', '5'));
  const bound = await until(async () => {
    const found = (await send(`${pods}/fits`)) as PodOnWire;
    return (found.spec.nodeName ?? '') === '' ? undefined : found;
  });
  assert.equal(bound.spec.nodeName, 'small');
  const message = '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).';
  const waiting = await until(async () => {
    const { status } = (await send(`${pods}/waits`)) as PodOnWire;
    return status.conditions?.find(({ type }) => type === 'PodScheduled');
  });
  assert.deepEqual([waiting.status, waiting.message], ['False', message]);
  const events = await until(async () => {
    const { items } = (await send('/api/v1/namespaces/default/events')) as { readonly items: readonly EventOnWire[] };
    return items.length < 2 ? undefined : items;
  });
  const lines = events.map((event) => `${event.source.component} ${event.reason}: ${event.message}`);
  assert.deepEqual(
    new Set(lines),
    new Set([
      'default-scheduler Scheduled: Successfully assigned default/fits to small',
      `default-scheduler FailedScheduling: ${message}`,
    ]),
  );
  assert.deepEqual(await server.terminate(), { code: 0, signal: null });
});

async function until<T>(check: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await check();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
