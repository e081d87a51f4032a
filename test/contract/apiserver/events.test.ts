import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ApiResponse,
  causesOf,
  expect,
  type Json,
  jsonPatch,
  mergePatch,
  openClient,
  strategicPatch,
} from './client.ts';

const client = await openClient();

const corePath = (namespace = 'default'): string => `/api/v1/namespaces/${namespace}/events`;
const eventsV1Path = (namespace = 'default'): string => `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
const eventTime = '2026-01-02T03:04:05.123456Z';

function aCoreEvent(over: Json = {}): Json {
  return {
    metadata: { name: client.name('event') },
    involvedObject: { kind: 'Node', name: 'n1', apiVersion: 'v1' },
    type: 'Normal',
    reason: 'Reported',
    message: 'something',
    source: { component: 'reporter', host: 'h' },
    firstTimestamp: '2026-01-02T03:04:05Z',
    lastTimestamp: '2026-01-02T03:05:05Z',
    count: 4,
    ...over,
  };
}

function anEventV1(over: Json = {}): Json {
  return {
    metadata: { name: client.name('event') },
    regarding: { kind: 'Node', name: 'n1', apiVersion: 'v1' },
    type: 'Warning',
    reason: 'Reported',
    action: 'Recording',
    note: 'something',
    eventTime,
    reportingController: 'example.com/reporter',
    reportingInstance: 'reporter-h',
    ...over,
  };
}

const fieldsOf = (response: ApiResponse): readonly string[] =>
  [...new Set<string>((response.body.details?.causes ?? []).map((cause: Json) => cause.field))].sort();

test('an event written in core/v1 is read in events.k8s.io/v1', async () => {
  const { metadata, involvedObject, message, source, firstTimestamp, lastTimestamp, count, reason } = await client.make(
    corePath(),
    aCoreEvent(),
  );
  const { body } = await client.get(`${eventsV1Path()}/${metadata.name}`);
  assert.partialDeepStrictEqual(body, {
    apiVersion: 'events.k8s.io/v1',
    regarding: involvedObject,
    note: message,
    deprecatedSource: source,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
    eventTime: null,
    reason,
  });
  for (const older of ['involvedObject', 'message', 'source', 'count', 'firstTimestamp', 'reportingComponent'])
    assert.equal(body[older], undefined, older);
});

test('an event written in events.k8s.io/v1 is read in core/v1', async () => {
  const related = { kind: 'Pod', namespace: 'default', name: 'p' };
  const series = { count: 2, lastObservedTime: eventTime };
  const created = await client.make(eventsV1Path(), anEventV1({ related, series }));
  const { body } = await client.get(`${corePath()}/${created.metadata.name}`);
  assert.equal(body.apiVersion, 'v1');
  assert.equal(body.metadata.resourceVersion, created.metadata.resourceVersion);
  assert.deepEqual(body.involvedObject, { kind: 'Node', name: 'n1', apiVersion: 'v1' });
  assert.deepEqual([body.message, body.reportingComponent], ['something', 'example.com/reporter']);
  assert.deepEqual([body.reportingInstance, body.action], ['reporter-h', 'Recording']);
  assert.equal(body.eventTime, eventTime);
  assert.deepEqual(body.related, related);
  assert.deepEqual(body.series, series);
  assert.deepEqual([body.source, body.firstTimestamp, body.lastTimestamp, body.count], [{}, null, null, undefined]);
});

const rejected: readonly (readonly [string, () => Json, readonly string[]])[] = [
  ['no time', () => ({ eventTime: null }), ['eventTime']],
  ['an unknown type', () => ({ type: 'Info' }), ['type']],
  ['no controller', () => ({ reportingController: '' }), ['reportingController']],
  ['an invalid controller name', () => ({ reportingController: 'a b' }), ['reportingController']],
  ['no instance', () => ({ reportingInstance: '' }), ['reportingInstance']],
  ['an instance too long', () => ({ reportingInstance: 'x'.repeat(129) }), ['reportingInstance']],
  ['no action', () => ({ action: '' }), ['action']],
  ['an action too long', () => ({ action: 'x'.repeat(129) }), ['action']],
  ['no reason', () => ({ reason: '' }), ['reason']],
  ['a reason too long', () => ({ reason: 'x'.repeat(129) }), ['reason']],
  ['a note too long, in bytes', () => ({ note: 'é'.repeat(513) }), ['message']],
  ['a series of one', () => ({ series: { count: 1, lastObservedTime: eventTime } }), ['series.count']],
  ['a series without a time', () => ({ series: { count: 2 } }), ['series.lastObservedTime']],
  [
    'the deprecated fields',
    () => ({
      deprecatedCount: 1,
      deprecatedFirstTimestamp: '2026-01-02T03:04:05Z',
      deprecatedLastTimestamp: '2026-01-02T03:04:05Z',
      deprecatedSource: { component: 'c' },
    }),
    ['count', 'firstTimestamp', 'lastTimestamp', 'source'],
  ],
];

for (const [what, over, fields] of rejected)
  test(`events.k8s.io/v1 rejects ${what}`, async () => {
    const response = await client.post(eventsV1Path(), anEventV1(over()));
    expect(response, 422);
    assert.deepEqual(fieldsOf(response), fields);
  });

test('events.k8s.io/v1 accepts texts of maximum length', async () => {
  const longest = { action: 'x'.repeat(128), reason: 'x'.repeat(128), reportingInstance: 'x'.repeat(128) };
  await client.make(eventsV1Path(), anEventV1({ ...longest, note: 'é'.repeat(512) }));
});

test('core/v1 accepts all of these without eventTime', async () => {
  const created = await client.make(
    corePath(),
    aCoreEvent({ type: 'Info', reason: '', message: 'x'.repeat(2_000), series: { count: 1 }, source: {} }),
  );
  assert.equal(created.message.length, 2_000);
});

test('core/v1 applies the rules of events.k8s.io/v1 to events with eventTime', async () => {
  const response = await client.post(corePath(), aCoreEvent({ eventTime, message: 'x'.repeat(1_025) }));
  expect(response, 422);
  assert.deepEqual(fieldsOf(response), ['action', 'message', 'reportingComponent', 'reportingInstance']);
});

test('namespace of an event about a cluster-scoped object: default, with eventTime also kube-system', async () => {
  const namespace = await client.namespace();
  await client.make(eventsV1Path('kube-system'), anEventV1());
  const elsewhere = await client.post(eventsV1Path(namespace), anEventV1());
  expect(elsewhere, 422);
  assert.deepEqual(fieldsOf(elsewhere), ['involvedObject.namespace']);
  expect(await client.post(corePath('kube-system'), aCoreEvent()), 422);
  const about = { kind: 'Pod', namespace: 'other', name: 'p' };
  await client.make(eventsV1Path(namespace), anEventV1({ regarding: about }));
  expect(await client.post(corePath(namespace), aCoreEvent({ involvedObject: about })), 422);
});

test('events.k8s.io/v1 allows updates of the series', async () => {
  const created = await client.make(eventsV1Path(), anEventV1());
  const path = `${eventsV1Path()}/${created.metadata.name}`;
  const series = { count: 2, lastObservedTime: '2026-01-02T03:05:05.000001Z' };
  const patched = await client.patch(path, strategicPatch, { series });
  expect(patched, 200);
  assert.deepEqual(patched.body.series, series);
  const again = await client.patch(path, strategicPatch, { series: { ...series, count: 3 } });
  assert.equal(again.body.series.count, 3);
  assert.equal((await client.get(`${corePath()}/${created.metadata.name}`)).body.series.count, 3);
  const shorter = await client.patch(path, mergePatch, { series: { count: 1 } });
  assert.deepEqual([shorter.code, fieldsOf(shorter)], [422, ['series.count']]);
});

const fixed: readonly (readonly [Json, string])[] = [
  [{ note: 'x' }, 'message'],
  [{ reason: 'x' }, 'reason'],
  [{ action: 'x' }, 'action'],
  [{ type: 'Normal' }, 'type'],
  [{ eventTime: '2027-01-02T03:04:05.123456Z' }, 'eventTime'],
  [{ regarding: { kind: 'Node', name: 'n2' } }, 'involvedObject'],
  [{ related: { kind: 'Node', name: 'n2' } }, 'related'],
  [{ reportingController: 'x' }, 'reportingController'],
  [{ reportingInstance: 'x' }, 'reportingInstance'],
  [{ deprecatedCount: 5 }, 'count'],
  [{ deprecatedSource: { component: 'c' } }, 'source'],
  [{ deprecatedFirstTimestamp: '2026-01-02T03:04:05Z' }, 'firstTimestamp'],
  [{ deprecatedLastTimestamp: '2026-01-02T03:04:05Z' }, 'lastTimestamp'],
];

test('events.k8s.io/v1 rejects updates of other fields', async () => {
  const created = await client.make(eventsV1Path(), anEventV1());
  for (const [change, field] of fixed) {
    const response = await client.patch(`${eventsV1Path()}/${created.metadata.name}`, mergePatch, change);
    assert.equal(response.code, 422, `${field}: ${response.text}`);
    assert.deepEqual(fieldsOf(response), [field]);
    assert.deepEqual(causesOf(response), ['FieldValueInvalid']);
  }
});

test('core/v1 allows all updates, visible in events.k8s.io/v1', async () => {
  const created = await client.make(corePath(), aCoreEvent());
  const change = { count: 5, lastTimestamp: '2026-01-02T03:06:05Z', message: 'again' };
  expect(await client.patch(`${corePath()}/${created.metadata.name}`, strategicPatch, change), 200);
  const { body } = await client.get(`${eventsV1Path()}/${created.metadata.name}`);
  assert.deepEqual([body.deprecatedCount, body.deprecatedLastTimestamp, body.note], [5, change.lastTimestamp, 'again']);
});

test('a core/v1 event patched through events.k8s.io/v1 stays without eventTime', async () => {
  const created = await client.make(
    corePath(),
    aCoreEvent({ source: {}, reportingComponent: '', reportingInstance: '' }),
  );
  const path = `${eventsV1Path()}/${created.metadata.name}`;
  const patched = await client.patch(path, mergePatch, { metadata: { labels: { seen: 'yes' } } });
  expect(patched, 200);
  const { body } = await client.get(`${corePath()}/${created.metadata.name}`);
  const { labels, resourceVersion: _version, managedFields: _managers, ...metadata } = body.metadata;
  const { resourceVersion: _before, managedFields: _managedFields, ...before } = created.metadata;
  assert.deepEqual(labels, { seen: 'yes' });
  assert.deepEqual({ ...body, metadata }, { ...created, metadata: before });
});

test('each API has its own field labels', async () => {
  const created = await client.make(eventsV1Path(), anEventV1({ reason: client.name('reason') }));
  const find = async (path: string, selector: string): Promise<ApiResponse> =>
    client.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`);
  for (const [path, selector] of [
    [
      eventsV1Path(),
      `reason=${created.reason},regarding.name=n1,regarding.kind=Node,reportingController=example.com/reporter`,
    ],
    [corePath(), `reason=${created.reason},involvedObject.name=n1,reportingComponent=example.com/reporter`],
    [corePath(), `reason=${created.reason},source=example.com/reporter`],
  ] as const) {
    const { body } = await find(path, selector);
    const seen = body.items.map((item: Json) => item.metadata.name);
    assert.deepEqual(seen, [created.metadata.name], selector);
  }
  for (const [path, selector] of [
    [eventsV1Path(), 'involvedObject.name=n1'],
    [eventsV1Path(), 'reportingComponent=x'],
    [eventsV1Path(), 'source=x'],
    [corePath(), 'regarding.name=n1'],
  ] as const)
    assert.equal((await find(path, selector)).code, 400, selector);
});

test('a watch of one API receives writes through the other', async () => {
  const reason = client.name('reason');
  const selector = `fieldSelector=${encodeURIComponent(`reason=${reason}`)}`;
  const [core, newer] = [
    await client.watch(`${corePath()}?${selector}`),
    await client.watch(`${eventsV1Path()}?${selector}`),
  ];
  const created = await client.make(eventsV1Path(), anEventV1({ reason }));
  const series = { count: 2, lastObservedTime: eventTime };
  await client.patch(`${eventsV1Path()}/${created.metadata.name}`, strategicPatch, { series });
  await client.delete(`${corePath()}/${created.metadata.name}`);
  const [coreSeen, newerSeen] = [await core.take(3), await newer.take(3)];
  for (const seen of [coreSeen, newerSeen])
    assert.deepEqual(
      seen.map(({ type, object }) => [type, object.series?.count]),
      [
        ['ADDED', undefined],
        ['MODIFIED', 2],
        ['DELETED', 2],
      ],
    );
  assert.equal(coreSeen[0]?.object.message, 'something');
  assert.equal(newerSeen[0]?.object.note, 'something');
});

test('a JSON patch applies to the form of its API', async () => {
  const created = await client.make(eventsV1Path(), anEventV1());
  const series = { count: 2, lastObservedTime: eventTime };
  const response = await client.patch(`${eventsV1Path()}/${created.metadata.name}`, jsonPatch, [
    { op: 'test', path: '/note', value: 'something' },
    { op: 'add', path: '/series', value: series },
  ]);
  expect(response, 200);
  assert.deepEqual(response.body.series, series);
});
