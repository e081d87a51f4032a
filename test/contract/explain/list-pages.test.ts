// The pages of lists over a real socket: formats, bounds and errors.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningHttp, startHttp } from '../../../src/machinery/page-server/observability-server.ts';
import { explainRoutes } from '../../../src/cli/pages/explain-pages.ts';
import { listRoutes } from '../../../src/cli/pages/list-pages.ts';
import type { EvictionList, NodeList } from '../../../src/controller/report/pages.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { snapshotOf } from '../../support/explained.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { names } from '../../support/zoned-world.ts';

const world = new ControllerWorld();
let http: RunningHttp;
let server = '';

before(async () => {
  for (const name of names(5, 'a-')) world.addNode(name, { zone: 'a' });
  world.renewing('a-3', 'a-4');
  await world.running(60);
  const snapshot = snapshotOf(world);
  http = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    routes: [...explainRoutes(snapshot), ...listRoutes(snapshot)],
    logger: new RecordingLogger(),
  });
  server = `http://127.0.0.1:${http.address.port}`;
});

after(async () => {
  await http.close();
  await world.stop();
});

async function nodes(query = ''): Promise<NodeList> {
  const response = await fetch(`${server}/explain/nodes${query}`);
  assert.equal(response.status, 200, query);
  return (await response.json()) as NodeList;
}

test('nodes that are not ready, or those of the given states, page by page', async () => {
  const seen = (list: NodeList): readonly string[] => list.nodes.map(({ name }) => name);
  assert.deepEqual(seen(await nodes()), ['a-0', 'a-1', 'a-2']);
  assert.deepEqual(seen(await nodes('?state=ready')), ['a-3', 'a-4']);
  const first = await nodes('?state=ready,unreachable,suspect&limit=2');
  assert.deepEqual([seen(first), first.total, first.continue], [['a-0', 'a-1'], 5, 'a-1']);
  const rest = await nodes(`?state=ready,unreachable,suspect&continue=${first.continue}`);
  assert.deepEqual([seen(rest), rest.continue], [['a-2', 'a-3', 'a-4'], null]);
});

test('as text they are tables; a single node has its page still', async () => {
  const text = await (await fetch(`${server}/explain/nodes?output=text`)).text();
  assert.match(text, /^NODE +ZONE +STATE +SINCE +PODS +NEXT +HELD BY\na-0 +r\/a +unreachable /);
  const evictions = await (await fetch(`${server}/explain/evictions?output=text`)).text();
  assert.equal(evictions, 'no evictions scheduled\n');
  assert.deepEqual(await (await fetch(`${server}/explain/evictions`)).json(), {
    evictions: [],
    total: 0,
  } satisfies EvictionList);
  assert.equal((await fetch(`${server}/explain/nodes/a-0`)).status, 200);
});

test('invalid states and limits are errors with what is accepted', async () => {
  const errors = [
    [
      '/explain/nodes?state=gone',
      /state: must be one or more of ready, not-ready, .*paused, separated by commas \(got "gone"\)/,
    ],
    ['/explain/nodes?state=', /\(got ""\)/],
    ['/explain/nodes?limit=0', /limit: must be an integer >= 1 and <= 500 \(got "0"\)/],
    ['/explain/nodes?limit=501', /got "501"/],
    ['/explain/evictions?limit=1e9', /got "1e9"/],
    ['/explain/nodes?output=yaml', /output: must be json or text/],
  ] as const;
  for (const [path, message] of errors) {
    const response = await fetch(`${server}${path}`);
    assert.equal(response.status, 400, path);
    assert.match(((await response.json()) as { error: { message: string } }).error.message, message);
  }
});
