// The explain pages over a real socket, and the commands that request them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RunningHttp, startHttp, textAnswer } from '../../../src/machinery/page-server/observability-server.ts';
import { explainRoutes } from '../../../src/cli/pages/explain-pages.ts';
import type { NodeOutlook } from '../../../src/controller/report/pages.ts';
import type { PodOutlook } from '../../../src/controller/report/pages.ts';
import type { StatusOutlook } from '../../../src/controller/report/pages.ts';
import type { ZoneOutlook } from '../../../src/controller/report/pages.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { nlc } from '../../support/run-command.ts';
import { snapshotOf } from '../../support/explained.ts';
import { names } from '../../support/zoned-world.ts';

interface Stage {
  readonly world: ControllerWorld;
  readonly server: string;
}

/** Three of five nodes of a small zone are silent, and the pages are served. */
async function onStage(use: (stage: Stage) => Promise<void>): Promise<void> {
  const world = new ControllerWorld();
  for (const name of names(5, 'a-')) world.addNode(name, { zone: 'a' });
  world.addNode('b-0', { zone: 'b' });
  world.addPod('web', 'a-1');
  world.renewing('a-3', 'a-4', 'b-0');
  await world.running(60);
  const http: RunningHttp = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    routes: explainRoutes(snapshotOf(world)),
    logger: new RecordingLogger(),
  });
  try {
    await use({ world, server: `http://127.0.0.1:${http.address.port}` });
  } finally {
    await http.close();
    await world.stop();
  }
}

test('nodes, pods, zones and the status are served as JSON', async () => {
  await onStage(async ({ server }) => {
    const get = async (path: string): Promise<unknown> => {
      const response = await fetch(`${server}${path}`);
      assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/json'], path);
      return response.json();
    };
    const node = (await get('/explain/nodes/a-1')) as NodeOutlook;
    assert.deepEqual([node.node, node.ready, node.queue], ['a-1', 'Unknown', { ahead: 1, waiting: 3 }]);
    assert.equal(node.noExecuteTaint?.when.inSeconds, null, 'a stopped queue has no time: null in JSON');
    const pod = (await get('/explain/pods/default/web')) as PodOutlook;
    assert.deepEqual([pod.pod, pod.node, pod.eviction?.state], ['default/web', 'a-1', 'predicted']);
    const { zones } = (await get('/explain/zones')) as { zones: readonly ZoneOutlook[] };
    const seen = zones.map(({ zone, condition, ratePerSecond }) => [zone, condition, ratePerSecond]);
    assert.deepEqual(seen, [
      ['r/a', 'partially-disrupted', 0],
      ['r/b', 'normal', 0.1],
    ]);
    const status = (await get('/status')) as StatusOutlook;
    assert.deepEqual([status.leading, status.leader, status.waiting], [true, 'this-replica', 3]);
    const expected = ['taint', { nodeLifecycle: true, taintEviction: true, podGc: false }, null];
    assert.deepEqual([status.mode, status.runs, status.podGc], expected);
    const found = status.informers.map(({ name, objects }) => [name, objects]);
    assert.deepEqual(found, [
      ['nodes', 6],
      ['leases', 3],
      ['pods', 1],
    ]);
    assert.equal(status.holds[0]?.kind, 'zone-stopped');
  });
});

test('names are URL-decoded; unknown objects, invalid names and unsupported formats are JSON errors', async () => {
  await onStage(async ({ world, server }) => {
    const stored = world.nodes.get('b-0');
    assert.ok(stored);
    world.nodes.set('spaced name', { ...stored, name: 'spaced name', uid: 'u-spaced' });
    const decoded = (await (await fetch(`${server}/explain/nodes/spaced%20name`)).json()) as NodeOutlook;
    assert.equal(decoded.node, 'spaced name');
    const errors = [
      ['/explain/nodes/missing', 404, 'NotFound', /node "missing" is not in/],
      ['/explain/nodes/', 404, 'NotFound', /node "" is not in/],
      ['/explain/nodes/a-1/more', 404, 'NotFound', /node "a-1\/more" is not in/],
      ['/explain/pods/default/missing', 404, 'NotFound', /pod "default\/missing" is not in/],
      ['/explain/pods/web', 404, 'NotFound', /pod "web" is not in/],
      ['/explain/pods/default%2Fweb', 404, 'NotFound', /pod "default\/web" is not in/],
      ['/explain/nodes/%ff', 400, 'BadRequest', /invalid percent-encoding in path/],
      ['/status?output=yaml', 400, 'BadRequest', /output: must be json or text/],
    ] as const;
    for (const [path, code, reason, message] of errors) {
      const response = await fetch(`${server}${path}`);
      assert.deepEqual([response.status, response.headers.get('content-type')], [code, 'application/json'], path);
      const { error } = (await response.json()) as { error: { code: number; reason: string; message: string } };
      assert.deepEqual([error.code, error.reason], [code, reason], path);
      assert.match(error.message, message);
    }
  });
});

test('nlc explain prints text, or every value as JSON', async () => {
  await onStage(async ({ server }) => {
    const text = await nlc('explain', 'node/a-1', `--server=${server}`);
    assert.deepEqual([text.code, text.err], [0, '']);
    assert.match(text.out, /^node a-1: Ready is Unknown; silent for 10s/);
    const json = await nlc('explain', '--output', 'json', '--server', `${server}/`, 'po/default/web');
    assert.equal(json.code, 0, json.err);
    assert.equal((JSON.parse(json.out) as PodOutlook).pod, 'default/web');
    const status = await nlc('status', `--server=${server}`);
    assert.match(status.out, /^leading; leader: this-replica /);
  });
});

test('nlc explain exits with 1 and the reason without a response, with 2 on a usage error', async () => {
  let gone = '';
  await onStage(async ({ server }) => {
    gone = server;
    const unknown = await nlc('explain', 'node/missing', `--server=${server}`);
    assert.deepEqual([unknown.code, unknown.out], [1, '']);
    assert.match(unknown.err, /returned 404: node "missing" is not in this controller's cache\n$/);
  });
  const unreachable = await nlc('status', `--server=${gone}`);
  assert.equal(unreachable.code, 1);
  assert.match(
    unreachable.err,
    /^nlc status: no response from http:\/\/127\.0\.0\.1:\d+ \(.*ECONNREFUSED.*\); --server must be/,
  );
  for (const argv of [['explain'], ['explain', 'zone/a'], ['explain', 'node/'], ['explain', 'pod/web']]) {
    const refused = await nlc(...argv);
    assert.equal(refused.code, 2, argv.join(' '));
    assert.match(refused.err, /must be node\/NAME or pod\/NAMESPACE\/NAME/);
  }
  const both = await nlc('explain', 'zone/a', '--server=ftp://x', '--output=xml');
  assert.match(both.err, /invalid arguments \(3 errors\)/);
});

test('an error of another server at the address is printed with its first line', async () => {
  const http = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    routes: [{ path: '/status', answer: () => textAnswer(503, 'not now\nreally\n') }],
    logger: new RecordingLogger(),
  });
  const { code, err } = await nlc('status', `--server=http://127.0.0.1:${http.address.port}`);
  await http.close();
  assert.equal(code, 1);
  assert.match(err, /returned 503: not now\n$/);
});
