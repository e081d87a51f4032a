// The buttons of the demo's dashboard, as requests: what they do to the cluster, and who may press them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { firstSnapshot } from '../support/first-snapshot.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { until } from '../support/small-world.ts';

const nodesOfB = ['b-01', 'b-10', 'b-20'];

let demo: NlcProcess;
/** Of the dashboard, without its path. */
let url = '';

before(async () => {
  demo = new NlcProcess(['demo', '--dashboard-port=0', '--output=json']);
  url = await until(
    'an address',
    20_000,
    async () => /dashboard: (http:\/\/127\.0\.0\.1:\d+)\/dashboard/.exec(demo.stdout)?.[1],
  );
});

after(async () => {
  await demo.terminate();
});

async function act(action: object, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  const response = await fetch(`${url}/dashboard/actions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(action),
  });
  return { status: response.status, body: await response.text() };
}

async function page<T>(path: string): Promise<T> {
  return (await (await fetch(`${url}${path}`)).json()) as T;
}

async function readyOf(node: string): Promise<string> {
  return (await page<{ readonly ready: string }>(`/explain/nodes/${node}`)).ready;
}

async function leader(): Promise<string | null> {
  return (await page<{ readonly leader: string | null }>('/status')).leader;
}

function decisions(): readonly string[] {
  const lines = demo.stdout.split('\n').filter((line) => line.startsWith('{'));
  return lines
    .map((line) => JSON.parse(line) as { type: string; decision?: { kind: string } })
    .flatMap((line) => line.decision?.kind ?? []);
}

test('the first action ends the scenario, and a zone that is cut becomes Unknown', { timeout: 60_000 }, async () => {
  await until('the first scene', 30_000, async () => demo.stdout.includes('"type":"scene"'));
  const { server, nodes } = await firstSnapshot(url);
  assert.deepEqual(
    [server.kind, server.actionKinds, nodes.length],
    ['demo', ['cut', 'stall-api', 'stop-leader', 'undo'], 60],
  );
  const { status, body } = await act({ kind: 'cut', zone: 'demo/b' });
  assert.equal(status, 200, body);
  assert.match(body, /cut 20 nodes off .* the scenario ends here/);
  await until('Unknown', 20_000, async () =>
    (await Promise.all(nodesOfB.map(readyOf))).every((ready) => ready === 'Unknown'),
  );
  assert.equal(await readyOf('a-01'), 'True');
  assert.match(demo.stdout, /the scenario ended early/);
});

test('undo: all nodes are ready again', { timeout: 30_000 }, async () => {
  assert.equal((await act({ kind: 'undo' })).status, 200);
  await until('ready', 20_000, async () =>
    (await Promise.all(nodesOfB.map(readyOf))).every((ready) => ready === 'True'),
  );
});

test('while the API server stalls for longer than the grace period no node is marked', {
  timeout: 40_000,
}, async () => {
  const count = (kind: string): number => decisions().filter((each) => each === kind).length;
  const [silent, paused, resumed] = [count('node-silent'), count('evaluation-paused'), count('evaluation-resumed')];
  assert.match((await act({ kind: 'stall-api', seconds: 7 })).body, /answers nothing for 7 s/);
  await until('a hold', 15_000, async () => count('evaluation-paused') > paused);
  await until('the end of it', 20_000, async () => count('evaluation-resumed') > resumed);
  assert.equal(count('node-silent'), silent);
  assert.deepEqual(await Promise.all([...nodesOfB, 'a-01'].map(readyOf)), ['True', 'True', 'True', 'True']);
});

test('another replica leads when the leader is stopped, and the page follows it', { timeout: 30_000 }, async () => {
  const former = await until('a leader', 20_000, leader);
  assert.match((await act({ kind: 'stop-leader' })).body, /stopped demo-\d/);
  const next = await until('another leader', 20_000, async () => {
    const name = await leader();
    return name !== null && name !== former && name;
  });
  const shown = await until('the page', 10_000, async () => {
    const { server } = await firstSnapshot(url);
    return server.identity === next && server;
  });
  assert.equal(shown.kind, 'demo');
});

test('a page of another site can neither act nor read', async () => {
  const foreign = await act({ kind: 'undo' }, { origin: 'http://example.com' });
  assert.equal(foreign.status, 403);
  const form = await fetch(`${url}/dashboard/actions`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: '{"kind":"undo"}',
  });
  assert.equal(form.status, 415);
  const asked = await fetch(`${url}/dashboard/actions`, {
    method: 'OPTIONS',
    headers: { origin: 'http://example.com' },
  });
  assert.equal(asked.status, 403);
  assert.equal(asked.headers.get('access-control-allow-origin'), null);
  assert.equal((await fetch(`${url}/dashboard/actions`)).status, 405);
  const wrong = await act({ kind: 'cut', share: 7 });
  assert.deepEqual([wrong.status, JSON.parse(wrong.body).error.reason], [400, 'BadRequest']);
});

test('a controller has no actions', { timeout: 30_000 }, async () => {
  const kubeconfig = /--kubeconfig (\S+) get nodes -w/.exec(demo.stdout)?.[1] ?? '';
  const controller = NlcProcess.controller(kubeconfig, '--leader-elect-resource-name=other');
  try {
    await until('its page', 20_000, async () => controller.said('serving /metrics'));
    const response = await fetch(`http://${controller.address()}/dashboard/actions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"kind":"undo"}',
    });
    assert.ok(response.status === 404 || response.status === 405, String(response.status));
  } finally {
    await controller.terminate();
  }
});
