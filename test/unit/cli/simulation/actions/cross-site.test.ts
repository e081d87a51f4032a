import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestInfo } from '../../../../../src/machinery/page-server/observability-server.ts';
import { allOf, rejectCrossSite } from '../../../../../src/cli/simulation/actions/cross-site.ts';
import { requireToken } from '../../../../../src/cli/simulation/hollow-nodes/control-pages.ts';

const host = '127.0.0.1:8700';

function request(method: string): RequestInfo {
  const url = new URL(`http://${host}/dashboard/actions`);
  return { method, url, authorization: undefined, clientCertificate: () => undefined };
}

async function statusOf(headers: Record<string, string>, method = 'POST'): Promise<number> {
  const answer = await rejectCrossSite({ host, ...headers }, request(method));
  return answer?.status ?? 200;
}

test('the own page and clients that are no browser may act', async () => {
  assert.equal(await statusOf({}), 200);
  assert.equal(await statusOf({ origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }), 200);
  assert.equal(await statusOf({ host: 'LOCALHOST:8700', origin: 'http://localhost:8700' }), 200);
});

test('a page of another origin may not act', async () => {
  for (const origin of ['http://example.com', 'http://127.0.0.1:9999', `http://${host}.example.com`, 'null', 'x'])
    assert.equal(await statusOf({ origin }), 403, origin);
  for (const site of ['cross-site', 'same-site']) assert.equal(await statusOf({ 'sec-fetch-site': site }), 403, site);
  assert.equal(await statusOf({ origin: 'http://example.com' }, 'DELETE'), 403);
});

test('reads are not rejected: browsers do not show their responses to other origins', async () => {
  assert.equal(await statusOf({ origin: 'http://example.com', 'sec-fetch-site': 'cross-site' }, 'GET'), 200);
});

test('several filters: each may reject', async () => {
  const filter = allOf(requireToken('secret'), rejectCrossSite);
  const rejectionOf = async (headers: Record<string, string>) => (await filter(headers, request('POST')))?.status;
  const authorization = 'Bearer secret';
  assert.equal(await rejectionOf({ host, authorization }), undefined);
  assert.equal(await rejectionOf({ host }), 401);
  assert.equal(await rejectionOf({ host, authorization, origin: 'http://attacker.example:8700' }), 403);
});
