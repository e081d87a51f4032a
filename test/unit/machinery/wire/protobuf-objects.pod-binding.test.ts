import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProtobufObjects } from '../../../../src/machinery/wire/protobuf-objects.ts';
import { ProtobufReader } from '../../../../src/machinery/wire/protobuf-reader.ts';
import type { Condition } from '../../../../src/machinery/api/conditions.ts';
import { boundAtMs, type Pod, type PodView, transformPod } from '../../../../src/machinery/api/pod.ts';
import { field, message } from '../../../support/protobuf-writer.ts';

const created = '2026-11-21T06:00:00Z';
const bound = '2026-11-21T06:42:20Z';

function aPod(...conditions: readonly Condition[]): Pod {
  return { metadata: { namespace: 'd', name: 'p', uid: 'u', creationTimestamp: created }, status: { conditions } };
}

function scheduled(status: string, lastTransitionTime?: string): Condition {
  return { type: 'PodScheduled', status, ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }) };
}

/** The same pod as the API server encodes it. */
function asProtobuf({ metadata, status }: Pod): Buffer {
  const stamp = (text: string): Buffer => message(field(1, Date.parse(text) / 1_000));
  const conditions = (status?.conditions ?? []).map(({ type, status: value, lastTransitionTime: at }) =>
    field(2, message(field(1, type), field(2, value), ...(at === undefined ? [] : [field(4, stamp(at))]))),
  );
  const { namespace = '', name = '', uid = '' } = metadata;
  const meta = message(field(1, name), field(3, namespace), field(5, uid), field(8, stamp(created)));
  return message(field(1, meta), field(3, message(...conditions)));
}

function fromProtobuf(pod: Pod): PodView {
  const bytes = asProtobuf(pod);
  const source = new ProtobufReader();
  source.begin(bytes, 0, bytes.length);
  return transformPod(new ProtobufObjects(source).read('pods', bytes.length));
}

test('the binding time of a pod is when PodScheduled became True, in JSON and in protobuf', () => {
  const cases: readonly (readonly [string, Pod, string])[] = [
    ['bound later than created', aPod({ type: 'Ready', status: 'True' }, scheduled('True', bound)), bound],
    ['not scheduled yet', aPod(scheduled('False', bound)), created],
    ['without a condition', aPod(), created],
    ['without a time', aPod(scheduled('True')), created],
    ['bound before it was created', aPod(scheduled('True', '2026-11-21T05:00:00Z')), created],
  ];
  for (const [what, pod, expected] of cases) {
    assert.equal(boundAtMs(transformPod(pod)), Date.parse(expected), `${what}, JSON`);
    assert.equal(boundAtMs(fromProtobuf(pod)), Date.parse(expected), `${what}, protobuf`);
  }
  assert.equal(boundAtMs(transformPod({ metadata: { namespace: 'd', name: 'p', uid: 'u' } })), undefined);
});

test('an unreadable binding time is recorded, and the creation time is used', () => {
  const view = transformPod(aPod(scheduled('True', 'yesterday')));
  assert.equal(boundAtMs(view), Date.parse(created));
  assert.match(view.problems?.join() ?? '', /PodScheduled.*yesterday/u);
});
