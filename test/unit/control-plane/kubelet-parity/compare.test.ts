// How the parity test with a real kubelet reads, merges and compares requests.
import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type AuditedRequest, AuditTrail } from '../../../control-plane/audit-trail.ts';
import { compareLines } from '../../../control-plane/kubelet-parity/compare.ts';
import { linesOf, type StepLines } from '../../../control-plane/kubelet-parity/lines.ts';
import { missingOf, unexpectedOf } from '../../../control-plane/kubelet-parity/meant.ts';
import { Names } from '../../../control-plane/kubelet-parity/names.ts';
import { tableOf } from '../../../control-plane/kubelet-parity/table.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const startMs = Date.parse('2026-01-01T00:00:00Z');

function request(verb: string, differences: Partial<AuditedRequest> = {}): AuditedRequest {
  const about = { resource: 'pods', namespace: 'default', name: 'web', subresource: '', uri: '/api/v1/pods' };
  const when = { atMs: startMs, endedAtMs: startMs, user: 'me' };
  return { ...when, verb, ...about, code: 200, body: undefined, answer: undefined, ...differences };
}

function patch(status: object, differences: Partial<AuditedRequest> = {}): AuditedRequest {
  return request('patch', { subresource: 'status', body: { metadata: { uid: 'u1' }, status }, ...differences });
}

function linesFor(requests: readonly AuditedRequest[], begins = [{ id: 'first', atMs: startMs }]): StepLines {
  return linesOf(requests, new Names(requests, begins), new Set());
}

const actions = (lines: StepLines): readonly string[] => [...lines.values()].flat().map(({ action }) => action);
const bodies = (lines: StepLines): readonly unknown[] => [...lines.values()].flat().map(({ body }) => body);

describe('requests of a step', () => {
  test('repeated reads are merged', () => {
    assert.deepEqual(actions(linesFor([request('get'), request('get'), request('get', { code: 404 })])), [
      'GET 200',
      'GET 404',
    ]);
  });

  test('patches within a moment are merged, except for the first patch of a pod', () => {
    const lines = linesFor([
      patch({ phase: 'Pending' }),
      request('get'),
      patch({ conditions: [{ type: 'Ready', status: 'False' }], a: 1 }),
      request('get'),
      patch({ conditions: [{ type: 'Ready', status: 'True' }, { type: 'Other' }] }, { atMs: startMs + 500 }),
      patch({ phase: 'Succeeded' }, { atMs: startMs + 60_000 }),
    ]);
    assert.deepEqual(actions(lines), ['PATCH status 200', 'GET 200', ...Array<string>(2).fill('PATCH status 200')]);
    const conditions = [{ type: 'Ready', status: 'True' }, { type: 'Other' }];
    assert.deepEqual(bodies(lines)[2], { metadata: { uid: 'u1' }, status: { conditions, a: 1 } });
  });

  test('two patches of a mirror pod are equal to one', () => {
    const created = request('create', { answer: { metadata: { uid: 'u1' } }, body: {} });
    const fresh = { type: 'Ready', status: 'False', lastProbeTime: null, reason: 'ContainersNotReady' };
    const ready = { type: 'Ready', status: 'True' };
    const inTwo = linesFor([
      created,
      patch({ conditions: [fresh], containerStatuses: [{ name: 'c', waiting: true }] }),
      patch({
        '$setElementOrder/conditions': [{ type: 'Ready' }],
        conditions: [{ ...ready, reason: null }],
        containerStatuses: [{ name: 'c' }],
      }),
    ]);
    const inOne = linesFor([
      created,
      patch({ conditions: [{ ...ready, lastProbeTime: null }], containerStatuses: [{ name: 'c' }] }),
    ]);
    assert.deepEqual(inTwo, inOne);
  });

  test('a node status update without changes counts only after a registration', () => {
    const node = { resource: 'nodes', namespace: '', name: 'n1' } as const;
    const report = (body: object): AuditedRequest => request('patch', { ...node, subresource: 'status', body });
    const types = [{ type: 'Ready' }];
    const heartbeats = [{ type: 'Ready', lastHeartbeatTime: '2026-01-01T00:00:00Z' }];
    const idle = { '$setElementOrder/conditions': types, conditions: heartbeats };
    const ready = { ...idle, conditions: [{ type: 'Ready', status: 'True' }] };
    const created = request('create', { ...node, code: 409 });
    for (const body of [{}, { status: idle }, { status: { ...idle, images: [] } }, { status: { images: [] } }]) {
      const lines = linesFor([report(body), created, request('get', node), report(body), report(body), report(body)]);
      assert.deepEqual(actions(lines), ['CREATE 409', 'GET 200', 'PATCH status 200']);
      assert.deepEqual(bodies(lines).at(-1), {});
    }
    for (const body of [{ status: ready }, { metadata: { labels: {} } }, { status: { capacity: {} } }])
      assert.deepEqual(actions(linesFor([report(body)])), ['PATCH status 200']);
  });

  test('times are replaced by their step, uids by their object', () => {
    const answer = { metadata: { uid: 'u1' } };
    const body = { at: '2026-01-01T00:01:00Z', precise: '2026-01-01T00:00:01.5Z', of: 'u1', on: '10.0.0.7' };
    const begins = [
      { id: 'first', atMs: startMs },
      { id: 'second', atMs: startMs + 60_400 },
    ];
    assert.deepEqual(bodies(linesFor([request('update', { body, answer })], begins))[0], {
      at: '<time: second>',
      precise: '<time: first, with fractions>',
      of: '<uid of pods/default/web, number 1>',
      on: '<address>',
    });
  });

  test('a patch of conditions contains the times of the patched object', () => {
    const order = [{ type: 'Ready' }];
    const answer = { status: { conditions: [{ type: 'Ready', lastTransitionTime: '2026-01-01T00:00:00Z' }] } };
    const [body] = bodies(linesFor([patch({ '$setElementOrder/conditions': order }, { answer })]));
    assert.deepEqual(body, {
      metadata: { uid: 'u1' },
      status: {
        '$setElementOrder/conditions': order,
        conditions: [{ type: 'Ready', lastTransitionTime: '<time: first>' }],
      },
    });
  });
});

describe('the comparison', () => {
  const differences = (upstream: StepLines, nlc: StepLines) =>
    [...compareLines(upstream, nlc).values()].flat().flatMap((row) => row.differences);

  test('finds missing requests, different values and a different order', () => {
    const list = (...types: readonly string[]): object => ({ list: types.map((type) => ({ type, value: 1 })) });
    const expected = linesFor([request('get'), request('update', { body: list('a', 'b') }), request('delete')]);
    const actual = linesFor([request('update', { body: { ...list('b', 'a'), more: true } }), request('delete')]);
    const seen = differences(expected, actual).map(({ action, at, upstream, nlc }) => [action, at, upstream, nlc]);
    assert.deepEqual(seen, [
      ['GET 200', undefined, 'sent', undefined],
      ['UPDATE 200', 'order of list', ['a', 'b'], ['b', 'a']],
      ['UPDATE 200', 'more', undefined, true],
    ]);
  });

  test('finds no difference between equal requests', () => {
    const lines = linesFor([request('get'), request('update', { body: { a: [1, { b: 2 }] } })]);
    assert.deepEqual(differences(lines, lines), []);
  });

  test('an intended difference is expected, and reported if it does not occur', () => {
    const found = differences(linesFor([request('get')]), linesFor([]));
    const entry = { object: 'pods/*', action: 'GET *', upstream: 'sent', nlc: undefined, record: 'r' };
    const other = { ...entry, action: 'DELETE *', steps: ['s'] };
    assert.deepEqual(unexpectedOf('s', found, [entry]), []);
    assert.deepEqual(unexpectedOf('s', found, [{ ...entry, nlc: 'sent' }]), found);
    assert.deepEqual(unexpectedOf('s', found, [{ ...entry, at: 'status' }]), found);
    assert.deepEqual(missingOf('s', found, [{ ...entry, steps: ['s'] }, other]), [other]);
    assert.deepEqual(missingOf('s', found, [{ ...other, sometimes: true }]), []);
  });

  test('is printed side by side', () => {
    const rows = compareLines(linesFor([request('get')]), linesFor([request('get'), request('delete')]));
    const actual = tableOf(rows, () => true);
    assert.match(actual, /^ {3}upstream +nlc\npods\/default\/web\n= {2}GET 200 +GET 200\n> +DELETE 200$/);
  });
});

test('the audit log of one user is read incrementally, in the order in which requests were received', () => {
  const folder = tempFolder();
  const file = join(folder, 'audit.log');
  const event = (username: string, second: number, stage = 'ResponseComplete', verb = 'get'): string =>
    `${JSON.stringify({
      stage,
      verb,
      requestURI: `/${second}`,
      user: { username },
      responseStatus: { code: 200 },
      requestReceivedTimestamp: `2026-01-01T00:00:0${second}.000001Z`,
    })}\n`;
  const uris = (): readonly string[] => trail.requests().map(({ uri }) => uri);
  writeFileSync(file, event('me', 3) + event('another', 1) + event('me', 2).slice(0, 40));
  const trail = new AuditTrail(file, 'me');
  assert.deepEqual(uris(), ['/3']);
  appendFileSync(file, event('me', 2).slice(40) + event('me', 1, 'ResponseStarted', 'watch'));
  appendFileSync(file, event('me', 1, 'ResponseComplete', 'watch'));
  assert.deepEqual(uris(), ['/1', '/2', '/3']);
});
