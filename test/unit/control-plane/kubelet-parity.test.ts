// How the side-by-side test with a real kubelet reads, joins and compares requests.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, appendFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type AuditedRequest, AuditTrail } from '../../control-plane/audit-trail.ts';
import { compareTold } from '../../control-plane/kubelet-parity/compare.ts';
import { linesOf, type Told } from '../../control-plane/kubelet-parity/lines.ts';
import { missingOf, unexpectedOf } from '../../control-plane/kubelet-parity/meant.ts';
import { Names } from '../../control-plane/kubelet-parity/names.ts';
import { tableOf } from '../../control-plane/kubelet-parity/table.ts';

const startMs = Date.parse('2026-01-01T00:00:00Z');

function request(verb: string, differences: Partial<AuditedRequest> = {}): AuditedRequest {
  const about = { resource: 'pods', namespace: 'default', name: 'web', subresource: '', uri: '/api/v1/pods' };
  const when = { atMs: startMs, endedAtMs: startMs, user: 'me' };
  return { ...when, verb, ...about, code: 200, body: undefined, answer: undefined, ...differences };
}

function patch(status: object, differences: Partial<AuditedRequest> = {}): AuditedRequest {
  return request('patch', { subresource: 'status', body: { metadata: { uid: 'u1' }, status }, ...differences });
}

function tell(requests: readonly AuditedRequest[], begins = [{ id: 'first', atMs: startMs }]): Told {
  return linesOf(requests, new Names(requests, begins), new Set());
}

const actions = (told: Told): readonly string[] => [...told.values()].flat().map(({ action }) => action);
const bodies = (told: Told): readonly unknown[] => [...told.values()].flat().map(({ body }) => body);

describe('what was asked for', () => {
  test('the same look twice is one look', () => {
    assert.deepEqual(actions(tell([request('get'), request('get'), request('get', { code: 404 })])), [
      'GET 200',
      'GET 404',
    ]);
  });

  test('patches of a moment are one, except for the first that a pod gets', () => {
    const told = tell([
      patch({ phase: 'Pending' }),
      request('get'),
      patch({ conditions: [{ type: 'Ready', status: 'False' }], a: 1 }),
      request('get'),
      patch({ conditions: [{ type: 'Ready', status: 'True' }, { type: 'Other' }] }, { atMs: startMs + 500 }),
      patch({ phase: 'Succeeded' }, { atMs: startMs + 60_000 }),
    ]);
    assert.deepEqual(actions(told), ['PATCH status 200', 'GET 200', ...Array<string>(2).fill('PATCH status 200')]);
    const conditions = [{ type: 'Ready', status: 'True' }, { type: 'Other' }];
    assert.deepEqual(bodies(told)[2], { metadata: { uid: 'u1' }, status: { conditions, a: 1 } });
  });

  test('a mirror that is told of in two patches is told of as in one', () => {
    const created = request('create', { answer: { metadata: { uid: 'u1' } }, body: {} });
    const fresh = { type: 'Ready', status: 'False', lastProbeTime: null, reason: 'ContainersNotReady' };
    const ready = { type: 'Ready', status: 'True' };
    const inTwo = tell([
      created,
      patch({ conditions: [fresh], containerStatuses: [{ name: 'c', waiting: true }] }),
      patch({
        '$setElementOrder/conditions': [{ type: 'Ready' }],
        conditions: [{ ...ready, reason: null }],
        containerStatuses: [{ name: 'c' }],
      }),
    ]);
    const inOne = tell([
      created,
      patch({ conditions: [{ ...ready, lastProbeTime: null }], containerStatuses: [{ name: 'c' }] }),
    ]);
    assert.deepEqual(inTwo, inOne);
  });

  test('a report of the node without news counts after a registration only, whatever it takes to say that', () => {
    const node = { resource: 'nodes', namespace: '', name: 'n1' } as const;
    const report = (body: object): AuditedRequest => request('patch', { ...node, subresource: 'status', body });
    const types = [{ type: 'Ready' }];
    const heartbeats = [{ type: 'Ready', lastHeartbeatTime: '2026-01-01T00:00:00Z' }];
    const idle = { '$setElementOrder/conditions': types, conditions: heartbeats };
    const ready = { ...idle, conditions: [{ type: 'Ready', status: 'True' }] };
    const created = request('create', { ...node, code: 409 });
    for (const body of [{}, { status: idle }, { status: { ...idle, images: [] } }, { status: { images: [] } }]) {
      const told = tell([report(body), created, request('get', node), report(body), report(body), report(body)]);
      assert.deepEqual(actions(told), ['CREATE 409', 'GET 200', 'PATCH status 200']);
      assert.deepEqual(bodies(told).at(-1), {});
    }
    for (const body of [{ status: ready }, { metadata: { labels: {} } }, { status: { capacity: {} } }])
      assert.deepEqual(actions(tell([report(body)])), ['PATCH status 200']);
  });

  test('times become the step in which they lie, uids whose they are', () => {
    const answer = { metadata: { uid: 'u1' } };
    const body = { at: '2026-01-01T00:01:00Z', precise: '2026-01-01T00:00:01.5Z', of: 'u1', on: '10.0.0.7' };
    const begins = [
      { id: 'first', atMs: startMs },
      { id: 'second', atMs: startMs + 60_400 },
    ];
    assert.deepEqual(bodies(tell([request('update', { body, answer })], begins))[0], {
      at: '<time: second>',
      precise: '<time: first, with fractions>',
      of: '<uid of pods/default/web, number 1>',
      on: '<address>',
    });
  });

  test('a patch of conditions has the times that they have after it, changed or not', () => {
    const order = [{ type: 'Ready' }];
    const answer = { status: { conditions: [{ type: 'Ready', lastTransitionTime: '2026-01-01T00:00:00Z' }] } };
    const [body] = bodies(tell([patch({ '$setElementOrder/conditions': order }, { answer })]));
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
  const differences = (reference: Told, ours: Told) =>
    [...compareTold(reference, ours).values()].flat().flatMap((row) => row.differences);

  test('finds requests without their like, values, and another order', () => {
    const list = (...types: readonly string[]): object => ({ list: types.map((type) => ({ type, value: 1 })) });
    const theirs = tell([request('get'), request('update', { body: list('a', 'b') }), request('delete')]);
    const own = tell([request('update', { body: { ...list('b', 'a'), more: true } }), request('delete')]);
    assert.deepEqual(
      differences(theirs, own).map(({ action, at, reference, ours }) => [action, at, reference, ours]),
      [
        ['GET 200', undefined, 'sent', undefined],
        ['UPDATE 200', 'order of list', ['a', 'b'], ['b', 'a']],
        ['UPDATE 200', 'more', undefined, true],
      ],
    );
  });

  test('finds nothing between equals', () => {
    const told = tell([request('get'), request('update', { body: { a: [1, { b: 2 }] } })]);
    assert.deepEqual(differences(told, told), []);
  });

  test('what is meant is expected, and is missed when it does not come', () => {
    const found = differences(tell([request('get')]), tell([]));
    const entry = { object: 'pods/*', action: 'GET *', reference: 'sent', ours: undefined, record: 'r' };
    const other = { ...entry, action: 'DELETE *', steps: ['s'] };
    assert.deepEqual(unexpectedOf('s', found, [entry]), []);
    assert.deepEqual(unexpectedOf('s', found, [{ ...entry, ours: 'sent' }]), found);
    assert.deepEqual(unexpectedOf('s', found, [{ ...entry, at: 'status' }]), found);
    assert.deepEqual(missingOf('s', found, [{ ...entry, steps: ['s'] }, other]), [other]);
    assert.deepEqual(missingOf('s', found, [{ ...other, sometimes: true }]), []);
  });

  test('is shown side by side', () => {
    const rows = compareTold(tell([request('get')]), tell([request('get'), request('delete')]));
    assert.match(
      tableOf(rows, () => true),
      /^ {3}reference +ours\npods\/default\/web\n= {2}GET 200 +GET 200\n> +DELETE 200$/,
    );
  });
});

test('the audit log is read as it grows, one user of it, in the order in which requests came in', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-audit-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
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
  writeFileSync(file, event('me', 3) + event('somebody', 1) + event('me', 2).slice(0, 40));
  const trail = new AuditTrail(file, 'me');
  assert.deepEqual(uris(), ['/3']);
  appendFileSync(file, event('me', 2).slice(40) + event('me', 1, 'ResponseStarted', 'watch'));
  appendFileSync(file, event('me', 1, 'ResponseComplete', 'watch'));
  assert.deepEqual(uris(), ['/1', '/2', '/3']);
});
