// The pages over a real socket, and the commands that ask for them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RunningHttp, startHttp, textAnswer } from '../../../src/adapters/observability-server.ts';
import { dispatch } from '../../../src/cli/dispatch.ts';
import { explainRoutes } from '../../../src/cli/explain-pages.ts';
import type { NodeOutlook, PodOutlook, StatusOutlook, ZoneOutlook } from '../../../src/controller/explain/outlook.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { KeepingLogger } from '../../support/quiet.ts';
import { snapshotOf } from '../../unit/controller/explain/explained.ts';

interface Stage {
  readonly world: ControllerWorld;
  readonly server: string;
}

/** Three of five nodes of a small zone are silent, and the pages are served. */
async function onStage(use: (stage: Stage) => Promise<void>): Promise<void> {
  const world = new ControllerWorld();
  for (const name of ['a-0', 'a-1', 'a-2', 'a-3', 'a-4']) world.addNode(name, { zone: 'a' });
  world.addNode('b-0', { zone: 'b' });
  world.addPod('web', 'a-1');
  world.renewing('a-3', 'a-4', 'b-0');
  world.start();
  await world.advance(60);
  const http: RunningHttp = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    routes: explainRoutes(snapshotOf(world)),
    logger: new KeepingLogger(),
  });
  try {
    await use({ world, server: `http://127.0.0.1:${http.address.port}` });
  } finally {
    await http.close();
    await world.stop();
  }
}

async function nlc(...argv: readonly string[]) {
  const said = { out: '', err: '' };
  const code = await dispatch(argv, {
    stdout: (text) => void (said.out += text),
    stderr: (text) => void (said.err += text),
    env: {},
    signal: new AbortController().signal,
  });
  return { code, ...said };
}

test('nodes, pods, zones and the status answer with JSON', async () => {
  await onStage(async ({ server }) => {
    const get = async (path: string): Promise<unknown> => {
      const response = await fetch(`${server}${path}`);
      assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/json'], path);
      return response.json();
    };
    const node = (await get('/explain/nodes/a-1')) as NodeOutlook;
    assert.deepEqual([node.node, node.ready, node.line], ['a-1', 'Unknown', { ahead: 1, waiting: 3 }]);
    assert.equal(node.noExecuteTaint?.when.inSeconds, null, 'a line that stands still has no time, and JSON says null');
    const pod = (await get('/explain/pods/default/web')) as PodOutlook;
    assert.deepEqual([pod.pod, pod.node, pod.eviction?.state], ['default/web', 'a-1', 'predicted']);
    const { zones } = (await get('/explain/zones')) as { zones: readonly ZoneOutlook[] };
    assert.deepEqual(
      zones.map(({ zone, condition, ratePerSecond }) => [zone, condition, ratePerSecond]),
      [
        ['r/a', 'partially-disrupted', 0],
        ['r/b', 'normal', 0.1],
      ],
    );
    const status = (await get('/status')) as StatusOutlook;
    assert.deepEqual([status.leading, status.leader, status.waiting], [true, 'us', 3]);
    assert.deepEqual(
      [status.mode, status.runs, status.podGc],
      ['taint', { nodeLifecycle: true, taintEviction: true, podGc: false }, null],
    );
    assert.deepEqual(
      status.informers.map(({ name, objects }) => [name, objects]),
      [
        ['nodes', 6],
        ['leases', 3],
        ['pods', 1],
      ],
    );
    assert.equal(status.holds[0]?.kind, 'zone-stopped');
  });
});

test('names are decoded; what is not known, not a name or not a form is refused as JSON', async () => {
  await onStage(async ({ world, server }) => {
    const stored = world.nodes.get('b-0');
    assert.ok(stored);
    world.nodes.set('odd name', { ...stored, name: 'odd name', uid: 'u-odd' });
    const odd = (await (await fetch(`${server}/explain/nodes/odd%20name`)).json()) as NodeOutlook;
    assert.equal(odd.node, 'odd name');
    const refusals = [
      ['/explain/nodes/nobody', 404, 'NotFound', /node "nobody" is not in/],
      ['/explain/nodes/', 404, 'NotFound', /node "" is not in/],
      ['/explain/nodes/a-1/more', 404, 'NotFound', /node "a-1\/more" is not in/],
      ['/explain/pods/default/nobody', 404, 'NotFound', /pod "default\/nobody" is not in/],
      ['/explain/pods/web', 404, 'NotFound', /pod "web" is not in/],
      ['/explain/pods/default%2Fweb', 404, 'NotFound', /pod "default\/web" is not in/],
      ['/explain/nodes/%ff', 400, 'BadRequest', /is not a path that can be decoded/],
      ['/status?output=yaml', 400, 'BadRequest', /accepted: json, text/],
    ] as const;
    for (const [path, code, reason, message] of refusals) {
      const response = await fetch(`${server}${path}`);
      assert.deepEqual([response.status, response.headers.get('content-type')], [code, 'application/json'], path);
      const { error } = (await response.json()) as { error: { code: number; reason: string; message: string } };
      assert.deepEqual([error.code, error.reason], [code, reason], path);
      assert.match(error.message, message);
    }
  });
});

test('nlc explain prints the page for people, or every value as JSON', async () => {
  await onStage(async ({ server }) => {
    const text = await nlc('explain', 'node/a-1', `--server=${server}`);
    assert.deepEqual([text.code, text.err], [0, '']);
    assert.match(text.out, /^node a-1: Ready is Unknown; silent for 10 s/);
    const json = await nlc('explain', '--output', 'json', '--server', `${server}/`, 'po/default/web');
    assert.equal(json.code, 0, json.err);
    assert.equal((JSON.parse(json.out) as PodOutlook).pod, 'default/web');
    const status = await nlc('status', `--server=${server}`);
    assert.match(status.out, /^leading; leader: us /);
  });
});

test('nlc explain ends with 1 and the reason when there is no answer, with 2 when it is called the wrong way', async () => {
  let gone = '';
  await onStage(async ({ server }) => {
    gone = server;
    const unknown = await nlc('explain', 'node/nobody', `--server=${server}`);
    assert.deepEqual([unknown.code, unknown.out], [1, '']);
    assert.match(unknown.err, /answers 404: node "nobody" is not in this controller's cache\n$/);
  });
  const nobody = await nlc('status', `--server=${gone}`);
  assert.equal(nobody.code, 1);
  assert.match(
    nobody.err,
    /^nlc status: no answer from http:\/\/127\.0\.0\.1:\d+ \(.*ECONNREFUSED.*\); --server names/,
  );
  for (const argv of [['explain'], ['explain', 'zone/a'], ['explain', 'node/'], ['explain', 'pod/web']]) {
    const refused = await nlc(...argv);
    assert.equal(refused.code, 2, argv.join(' '));
    assert.match(refused.err, /accepted: node\/NAME or pod\/NAMESPACE\/NAME/);
  }
  const both = await nlc('explain', 'zone/a', '--server=ftp://x', '--output=yaml');
  assert.match(both.err, /3 problems/);
});

test('another server behind the address is quoted with its first line', async () => {
  const http = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    routes: [{ path: '/status', answer: () => textAnswer(503, 'not now\nreally\n') }],
    logger: new KeepingLogger(),
  });
  const { code, err } = await nlc('status', `--server=http://127.0.0.1:${http.address.port}`);
  await http.close();
  assert.equal(code, 1);
  assert.match(err, /answers 503: not now\n$/);
});
