// The dashboard with TLS and delegated authorization: no page, file or event without the right to read it.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Agent, request } from 'undici';
import { dashboardRoutes } from '../../../src/cli/dashboard/dashboard-routes.ts';
import { streamMsMax } from '../../../src/cli/dashboard/event-streams.ts';
import { DashboardWorld } from '../../support/dashboard-world.ts';
import { DashboardMirror } from '../../support/dashboard-mirror.ts';
import { RecordingLogger, RecordingMeter } from '../../support/fakes.ts';
import { SecurePagesStage } from '../../support/secure-pages.ts';
import { until } from '../../support/until.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const rights = ['get /dashboard', 'get /dashboard/events', 'get /dashboard/assets/main.js'];

async function staged(t: TestContext) {
  const world = aZonedWorld({ a: 3 });
  const board = new DashboardWorld(await world.running(5));
  const routes = dashboardRoutes({
    source: board.keeper.board,
    asset: (path) => Promise.resolve({ contentType: 'text/plain', body: `file ${path}` }),
    clock: world.clock,
    logger: new RecordingLogger(),
    meter: new RecordingMeter(),
  });
  const stage = await SecurePagesStage.openWith(routes);
  stage.api.add('oncall', 'oncall-token', ...rights).add('other', 'other-token', 'get /metrics');
  const agent = new Agent({ connect: { ca: stage.authority.cert } });
  t.after(async () => {
    await agent.destroy();
    await stage.close();
    await board.stop();
    await world.stop();
  });
  return { stage, world, agent };
}

test('without a token nothing of the dashboard is served, and without the right neither', async (t) => {
  const { stage } = await staged(t);
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/assets/main.js', '/dashboard/events']) {
    const anonymous = await stage.get(path);
    assert.equal(anonymous.status, 401, path);
    assert.match(String(anonymous.headers['content-security-policy']), /default-src 'none'/);
    const refused = await stage.get(path, { token: 'other-token' });
    assert.equal(refused.status, 403, path);
    assert.match(refused.body, new RegExp(`User \\\\"other\\\\" cannot get path \\\\"${path}\\\\"`));
  }
  assert.equal((await stage.get('/dashboard', { token: 'oncall-token' })).status, 200);
  assert.equal((await stage.get('/dashboard/assets/main.js', { token: 'oncall-token' })).body, 'file main.js');
});

test('a reader gets the events; the stream ends in time, and when the right was revoked the next one is refused', async (t) => {
  const { stage, world, agent } = await staged(t);
  const headers = { authorization: 'Bearer oncall-token' };
  const answer = await request(`${stage.url}/dashboard/events`, { dispatcher: agent, headers });
  assert.equal(answer.statusCode, 200);
  const mirror = new DashboardMirror();
  let hasEnded = false;
  const reading = (async () => {
    for await (const chunk of answer.body.setEncoding('utf8')) mirror.feed(String(chunk));
    hasEnded = true;
  })();
  await world.advance(2);
  await until(() => mirror.nodes.size === 3);
  for (const right of rights) stage.api.grants.delete(`oncall ${right}`);
  await world.advance(streamMsMax / 1_000 + 2);
  await reading;
  assert.equal(hasEnded, true);
  await stage.clock.advance(60_000);
  assert.equal((await stage.get('/dashboard/events', { token: 'oncall-token' })).status, 403);
});
