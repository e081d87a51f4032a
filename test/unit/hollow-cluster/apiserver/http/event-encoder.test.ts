import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventEncoder } from '../../../../../src/hollow-cluster/apiserver/http/event-encoder.ts';
import { JsonPresenter } from '../../../../../src/hollow-cluster/apiserver/http/json-presenter.ts';
import type { Presenter } from '../../../../../src/hollow-cluster/apiserver/http/presenter.ts';
import { ProtobufPresenter } from '../../../../../src/hollow-cluster/apiserver/http/protobuf-presenter.ts';
import { servedResources } from '../../../../../src/hollow-cluster/apiserver/resources.ts';
import type { StoreChange } from '../../../../../src/hollow-cluster/apiserver/storage/store-change.ts';
import { StoredObject } from '../../../../../src/hollow-cluster/apiserver/storage/stored-object.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const pods = servedResources.find(({ plural }) => plural === 'pods')!;
const whole = { as: 'object', version: 'v1' } as const;
const partial = { as: 'partial', version: 'v1' } as const;

function aChange(): StoreChange {
  const located = {
    key: 'default/a',
    namespace: 'default',
    name: 'a',
    uid: 'u',
    revision: 7,
    labels: {},
    fields: {},
  } as const;
  const object = new StoredObject(located, { metadata: { name: 'a', namespace: 'default', resourceVersion: '7' } });
  return { kind: 'added', revision: 7, object, previous: undefined, atMs: 0 };
}

function json(form: typeof whole | typeof partial): Presenter {
  const presentation = { ...form, format: 'json', pretty: false, includeObject: 'Metadata' } as const;
  return new JsonPresenter(pods, presentation, new ManualClock());
}

test('an event is encoded once for all watches of one form and format', () => {
  const encoder = new EventEncoder();
  const change = aChange();
  const presenters = [
    () => new ProtobufPresenter(pods, whole),
    () => new ProtobufPresenter(pods, partial),
    () => json(whole),
    () => json(partial),
  ];
  const encoded = presenters.map((make) => encoder.encode(change, 'ADDED', make(), true));
  assert.equal(new Set(encoded.map((bytes) => bytes.toString('hex'))).size, presenters.length);
  for (const [index, make] of presenters.entries()) {
    assert.equal(encoder.encode(change, 'ADDED', make(), false), encoded[index]);
  }
});

test('the size of an event in protobuf is that of its bytes, which are then shared; its JSON is not made', (t) => {
  const encoder = new EventEncoder();
  const change = aChange();
  const tail = t.mock.getter(change.object, 'tail', () => assert.fail('JSON was made'));
  const presenter = new ProtobufPresenter(pods, whole);
  const size = encoder.sizeOf(change, 'ADDED', presenter);
  assert.equal(encoder.encode(change, 'ADDED', presenter, false).length, size);
  assert.equal(tail.mock.callCount(), 0);
});
