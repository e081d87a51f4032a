import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HealthCheck, healthRoutes } from '../../../../src/cli/pages/health-pages.ts';

const fine: HealthCheck = { name: 'loop', problem: () => undefined };
const behind: HealthCheck = { name: 'informer-sync', problem: () => 'pods are not listed yet' };
const broken: HealthCheck = {
  name: 'broken',
  problem: () => {
    throw new Error('unexpected');
  },
};

async function get(path: string, checks = { live: [fine], ready: [fine, behind] }) {
  const url = new URL(`http://localhost${path}`);
  const routes = healthRoutes(checks).filter(
    (route) => route.path === url.pathname || (route.path.endsWith('/') && url.pathname.startsWith(route.path)),
  );
  assert.equal(routes.length, 1, path);
  const { status, body } = await routes[0]!.answer(url);
  return [status, body] as const;
}

test('all checks pass: the page is ok, and with verbose lists each check', async () => {
  assert.deepEqual(await get('/livez'), [200, 'ok']);
  assert.deepEqual(await get('/healthz'), [200, 'ok']);
  assert.deepEqual(await get('/livez?verbose'), [200, '[+]ping ok\n[+]loop ok\nlivez check passed\n']);
});

test('one check fails: 503 with the reason, with and without verbose', async () => {
  const body = '[+]ping ok\n[+]loop ok\n[-]informer-sync failed: pods are not listed yet\nreadyz check failed\n';
  assert.deepEqual(await get('/readyz'), [503, body]);
  assert.deepEqual(await get('/readyz?verbose'), [503, body]);
});

test('a failed readiness check does not affect liveness', async () => {
  assert.deepEqual(await get('/livez', { live: [fine], ready: [behind] }), [200, 'ok']);
  assert.deepEqual(await get('/healthz', { live: [fine], ready: [behind] }), [200, 'ok']);
});

test('a check can be excluded, and an unknown excluded name is reported', async () => {
  assert.deepEqual(await get('/readyz?exclude=informer-sync'), [200, 'ok']);
  assert.deepEqual(await get('/readyz?verbose&exclude=informer-sync&exclude=typo'), [
    200,
    '[+]ping ok\n[+]loop ok\n[+]informer-sync excluded: ok\n' +
      'warn: some health checks cannot be excluded: no matches for "typo"\nreadyz check passed\n',
  ]);
});

test('each check has a page', async () => {
  assert.deepEqual(await get('/readyz/loop'), [200, 'ok']);
  assert.deepEqual(await get('/readyz/ping'), [200, 'ok']);
  assert.deepEqual(await get('/readyz/informer-sync'), [503, 'informer-sync failed: pods are not listed yet\n']);
  assert.deepEqual(await get('/readyz/none'), [
    404,
    'no such check; available checks: "ping", "loop", "informer-sync"\n',
  ]);
});

test('a check that throws has failed', async () => {
  const [status, body] = await get('/livez', { live: [broken], ready: [] });
  assert.equal(status, 503);
  assert.match(body, /\[-\]broken failed: unexpected\n/);
});
