import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Answer,
  type Client,
  causesOf,
  type Json,
  jsonPatch,
  mergePatch,
  openClient,
  strategicPatch,
} from './client.ts';

let client: Client;
before(async () => {
  client = await openClient();
});
after(() => client.close());

const corePath = (namespace = 'default'): string => `/api/v1/namespaces/${namespace}/events`;
const newerPath = (namespace = 'default'): string => `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
const eventTime = '2026-01-02T03:04:05.123456Z';

function aCoreEvent(over: Json = {}): Json {
  return {
    metadata: { name: client.name('event') },
    involvedObject: { kind: 'Node', name: 'n1', apiVersion: 'v1' },
    type: 'Normal',
    reason: 'Told',
    message: 'something',
    source: { component: 'teller', host: 'h' },
    firstTimestamp: '2026-01-02T03:04:05Z',
    lastTimestamp: '2026-01-02T03:05:05Z',
    count: 4,
    ...over,
  };
}

function aNewerEvent(over: Json = {}): Json {
  return {
    metadata: { name: client.name('event') },
    regarding: { kind: 'Node', name: 'n1', apiVersion: 'v1' },
    type: 'Warning',
    reason: 'Told',
    action: 'Telling',
    note: 'something',
    eventTime,
    reportingController: 'example.com/teller',
    reportingInstance: 'teller-h',
    ...over,
  };
}

const fieldsOf = (answer: Answer): readonly string[] =>
  [...new Set<string>((answer.body.details?.causes ?? []).map((cause: Json) => cause.field))].sort();

test('one event, two forms: told in core/v1, read in events.k8s.io/v1', async () => {
  const { metadata, involvedObject, message, source, firstTimestamp, lastTimestamp, count, ...rest } =
    await client.make(corePath(), aCoreEvent());
  const { body } = await client.get(`${newerPath()}/${metadata.name}`);
  assert.equal(body.apiVersion, 'events.k8s.io/v1');
  assert.deepEqual(body.regarding, involvedObject);
  assert.equal(body.note, message);
  assert.deepEqual(body.deprecatedSource, source);
  assert.equal(body.deprecatedFirstTimestamp, firstTimestamp);
  assert.equal(body.deprecatedLastTimestamp, lastTimestamp);
  assert.equal(body.deprecatedCount, count);
  assert.equal(body.eventTime, null);
  assert.equal(body.reason, rest.reason);
  for (const older of ['involvedObject', 'message', 'source', 'count', 'firstTimestamp', 'reportingComponent'])
    assert.equal(body[older], undefined, older);
});

test('one event, two forms: told in events.k8s.io/v1, read in core/v1', async () => {
  const related = { kind: 'Pod', namespace: 'default', name: 'p' };
  const series = { count: 2, lastObservedTime: eventTime };
  const told = await client.make(newerPath(), aNewerEvent({ related, series }));
  const { body } = await client.get(`${corePath()}/${told.metadata.name}`);
  assert.equal(body.apiVersion, 'v1');
  assert.equal(body.metadata.resourceVersion, told.metadata.resourceVersion);
  assert.deepEqual(body.involvedObject, { kind: 'Node', name: 'n1', apiVersion: 'v1' });
  assert.equal(body.message, 'something');
  assert.equal(body.reportingComponent, 'example.com/teller');
  assert.equal(body.reportingInstance, 'teller-h');
  assert.equal(body.action, 'Telling');
  assert.equal(body.eventTime, eventTime);
  assert.deepEqual(body.related, related);
  assert.deepEqual(body.series, series);
  assert.deepEqual([body.source, body.firstTimestamp, body.lastTimestamp, body.count], [{}, null, null, undefined]);
});

const refused: readonly (readonly [string, () => Json, readonly string[]])[] = [
  ['no time', () => ({ eventTime: null }), ['eventTime']],
  ['an unknown type', () => ({ type: 'Info' }), ['type']],
  ['no controller', () => ({ reportingController: '' }), ['reportingController']],
  ['a controller that is no name', () => ({ reportingController: 'a b' }), ['reportingController']],
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
    'what older clients write',
    () => ({
      deprecatedCount: 1,
      deprecatedFirstTimestamp: '2026-01-02T03:04:05Z',
      deprecatedLastTimestamp: '2026-01-02T03:04:05Z',
      deprecatedSource: { component: 'c' },
    }),
    ['count', 'firstTimestamp', 'lastTimestamp', 'source'],
  ],
];

for (const [what, over, fields] of refused)
  test(`events.k8s.io/v1 refuses ${what}`, async () => {
    const answer = await client.post(newerPath(), aNewerEvent(over()));
    assert.equal(answer.code, 422, answer.text);
    assert.deepEqual(fieldsOf(answer), fields);
  });

test('what just fits is taken', async () => {
  const longest = { action: 'x'.repeat(128), reason: 'x'.repeat(128), reportingInstance: 'x'.repeat(128) };
  await client.make(newerPath(), aNewerEvent({ ...longest, note: 'é'.repeat(512) }));
});

test('core/v1 takes all of it, as it always has', async () => {
  const told = await client.make(
    corePath(),
    aCoreEvent({ type: 'Info', reason: '', message: 'x'.repeat(2_000), series: { count: 1 }, source: {} }),
  );
  assert.equal(told.message.length, 2_000);
});

test('core/v1 holds who sets eventTime to the newer rules', async () => {
  const answer = await client.post(corePath(), aCoreEvent({ eventTime, message: 'x'.repeat(1_025) }));
  assert.equal(answer.code, 422, answer.text);
  assert.deepEqual(fieldsOf(answer), ['action', 'message', 'reportingComponent', 'reportingInstance']);
});

test('where an event about something without a namespace may stand: the newer form may choose', async () => {
  const namespace = await client.namespace();
  await client.make(newerPath('kube-system'), aNewerEvent());
  const elsewhere = await client.post(newerPath(namespace), aNewerEvent());
  assert.equal(elsewhere.code, 422);
  assert.deepEqual(fieldsOf(elsewhere), ['involvedObject.namespace']);
  assert.equal((await client.post(corePath('kube-system'), aCoreEvent())).code, 422);
  const about = { kind: 'Pod', namespace: 'other', name: 'p' };
  await client.make(newerPath(namespace), aNewerEvent({ regarding: about }));
  assert.equal((await client.post(corePath(namespace), aCoreEvent({ involvedObject: about }))).code, 422);
});

test('through events.k8s.io/v1 only the series of an event changes', async () => {
  const told = await client.make(newerPath(), aNewerEvent());
  const path = `${newerPath()}/${told.metadata.name}`;
  const series = { count: 2, lastObservedTime: '2026-01-02T03:05:05.000001Z' };
  const patched = await client.patch(path, strategicPatch, { series });
  assert.equal(patched.code, 200, patched.text);
  assert.deepEqual(patched.body.series, series);
  const again = await client.patch(path, strategicPatch, { series: { ...series, count: 3 } });
  assert.equal(again.body.series.count, 3);
  assert.equal((await client.get(`${corePath()}/${told.metadata.name}`)).body.series.count, 3);
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

test('through events.k8s.io/v1 nothing else of an event changes', async () => {
  const told = await client.make(newerPath(), aNewerEvent());
  for (const [change, field] of fixed) {
    const answer = await client.patch(`${newerPath()}/${told.metadata.name}`, mergePatch, change);
    assert.equal(answer.code, 422, `${field}: ${answer.text}`);
    assert.deepEqual(fieldsOf(answer), [field]);
    assert.deepEqual(causesOf(answer), ['FieldValueInvalid']);
  }
});

test('through core/v1 an event changes freely, and the newer form shows it', async () => {
  const told = await client.make(corePath(), aCoreEvent());
  const change = { count: 5, lastTimestamp: '2026-01-02T03:06:05Z', message: 'again' };
  const patched = await client.patch(`${corePath()}/${told.metadata.name}`, strategicPatch, change);
  assert.equal(patched.code, 200, patched.text);
  const { body } = await client.get(`${newerPath()}/${told.metadata.name}`);
  assert.deepEqual([body.deprecatedCount, body.deprecatedLastTimestamp, body.note], [5, change.lastTimestamp, 'again']);
});

test('an older event that is patched through the newer group stays an older event', async () => {
  const told = await client.make(corePath(), aCoreEvent({ source: {}, reportingComponent: '', reportingInstance: '' }));
  const path = `${newerPath()}/${told.metadata.name}`;
  const patched = await client.patch(path, mergePatch, { metadata: { labels: { seen: 'yes' } } });
  assert.equal(patched.code, 200, patched.text);
  const { body } = await client.get(`${corePath()}/${told.metadata.name}`);
  const { labels, resourceVersion: _version, managedFields: _managers, ...metadata } = body.metadata;
  const { resourceVersion: _before, managedFields: _ours, ...before } = told.metadata;
  assert.deepEqual(labels, { seen: 'yes' });
  assert.deepEqual({ ...body, metadata }, { ...told, metadata: before });
});

test('each form is selected by its own words', async () => {
  const told = await client.make(newerPath(), aNewerEvent({ reason: client.name('reason') }));
  const find = async (path: string, selector: string): Promise<Answer> =>
    client.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`);
  for (const [path, selector] of [
    [newerPath(), `reason=${told.reason},regarding.name=n1,regarding.kind=Node,reportingController=example.com/teller`],
    [corePath(), `reason=${told.reason},involvedObject.name=n1,reportingComponent=example.com/teller`],
    [corePath(), `reason=${told.reason},source=example.com/teller`],
  ] as const) {
    const { body } = await find(path, selector);
    assert.deepEqual(
      body.items.map((item: Json) => item.metadata.name),
      [told.metadata.name],
      selector,
    );
  }
  for (const [path, selector] of [
    [newerPath(), 'involvedObject.name=n1'],
    [newerPath(), 'reportingComponent=x'],
    [newerPath(), 'source=x'],
    [corePath(), 'regarding.name=n1'],
  ] as const)
    assert.equal((await find(path, selector)).code, 400, selector);
});

test('who watches one form hears of what is written in the other', async () => {
  const reason = client.name('reason');
  const selector = `fieldSelector=${encodeURIComponent(`reason=${reason}`)}`;
  const [core, newer] = [
    await client.watch(`${corePath()}?${selector}`),
    await client.watch(`${newerPath()}?${selector}`),
  ];
  const told = await client.make(newerPath(), aNewerEvent({ reason }));
  const series = { count: 2, lastObservedTime: eventTime };
  await client.patch(`${newerPath()}/${told.metadata.name}`, strategicPatch, { series });
  await client.delete(`${corePath()}/${told.metadata.name}`);
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
  core.stop();
  newer.stop();
});

test('a JSON patch sees the form it was sent to', async () => {
  const told = await client.make(newerPath(), aNewerEvent());
  const series = { count: 2, lastObservedTime: eventTime };
  const answer = await client.patch(`${newerPath()}/${told.metadata.name}`, jsonPatch, [
    { op: 'test', path: '/note', value: 'something' },
    { op: 'add', path: '/series', value: series },
  ]);
  assert.equal(answer.code, 200, answer.text);
  assert.deepEqual(answer.body.series, series);
});
