import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { JsonListDecoder } from '../../../../src/machinery/wire/json-list.ts';
import { JsonWatchDecoder } from '../../../../src/machinery/wire/json-watch.ts';
import { ProtobufEnvelope } from '../../../../src/machinery/wire/protobuf-envelope.ts';
import { ProtobufListDecoder } from '../../../../src/machinery/wire/protobuf-list.ts';
import { MalformedProtobufError } from '../../../../src/machinery/wire/protobuf-reader.ts';
import { ProtobufWatchDecoder } from '../../../../src/machinery/wire/protobuf-watch.ts';
import type { WatchDecoder } from '../../../../src/machinery/wire/wire-format.ts';
import { type Lease, transformLease } from '../../../../src/machinery/api/lease.ts';
import type { KubeObject } from '../../../../src/machinery/api/meta.ts';
import { type Node, transformNode } from '../../../../src/machinery/api/node.ts';
import type { UndecodableObject, WatchEvent } from '../../../../src/machinery/ports/kube-reader.ts';
import { envelope, field, frame, message } from '../../../support/protobuf-writer.ts';

const time = (seconds: bigint | number, nanos: bigint | number = 0): Buffer =>
  message(field(1, seconds), field(2, nanos));
const metadata = (name: string): Buffer =>
  field(1, message(field(1, name), field(3, 'kube-node-lease'), field(5, `uid-${name}`), field(6, '7')));
const aLease = (name: string, renewTime: Buffer): Buffer =>
  message(metadata(name), field(2, message(field(1, name), field(4, renewTime))));
const good = (name: string): Buffer => aLease(name, time(1_700_000_000, 123_456_000));
/** Its spec declares a length beyond its end. */
const broken = (name: string): Buffer => message(metadata(name), Buffer.from([0x12, 0x7f, 0x0a]));

function eventsOf(decoder: WatchDecoder, ...chunks: readonly (Buffer | string)[]): readonly WatchEvent[] {
  const events: WatchEvent[] = [];
  for (const chunk of chunks) decoder.push(Buffer.from(chunk), events);
  return events;
}

function brief({ type, object }: WatchEvent): string {
  const name = 'metadata' in object ? object.metadata?.name : undefined;
  return `${type} ${name ?? '-'}`;
}

describe('undecodable objects', () => {
  const wrapped = (lease: Buffer): Buffer => envelope('coordination.k8s.io/v1', 'Lease', lease);
  const watch = (...frames: readonly Buffer[]): readonly WatchEvent[] =>
    eventsOf(new ProtobufWatchDecoder(new ProtobufEnvelope(), 'leases'), ...frames);

  test('in a protobuf watch become an event that names the object; later events are decoded', () => {
    const events = watch(
      frame('ADDED', wrapped(good('a'))),
      frame('MODIFIED', wrapped(broken('b'))),
      frame('DELETED', wrapped(broken('c'))),
      frame('MODIFIED', wrapped(good('d'))),
    );
    assert.deepEqual(events.map(brief), ['ADDED a', 'UNDECODABLE b', 'UNDECODABLE c', 'MODIFIED d']);
    const seen = events.map((event) => (event.type === 'UNDECODABLE' ? event.change : undefined));
    assert.deepEqual(seen, [undefined, 'MODIFIED', 'DELETED', undefined]);
    assert.deepEqual(events[1]?.object, {
      metadata: { name: 'b', namespace: 'kube-node-lease', uid: 'uid-b', resourceVersion: '7', labels: {} },
      problem: 'a field is longer than what is around it',
    });
  });

  test('in a protobuf watch may be the event itself', () => {
    const nonsense = message(Buffer.from([0, 0, 0, 3]), Buffer.from([0xff, 0xff, 0xff]));
    const events = watch(
      nonsense,
      frame('MOVED', wrapped(good('a'))),
      frame('ADDED', Buffer.from('{}')),
      frame('ADDED', wrapped(good('b'))),
    );
    assert.deepEqual(events.map(brief), ['UNDECODABLE -', 'UNDECODABLE -', 'UNDECODABLE -', 'ADDED b']);
  });

  test('in the ERROR event of a watch end the watch', () => {
    assert.throws(() => watch(frame('ERROR', wrapped(good('a')))), MalformedProtobufError);
  });

  test('in a protobuf list are skipped and named', () => {
    const items = [good('a'), broken('b'), good('c'), Buffer.from([0x0a, 0x7f])].map((item) => field(2, item));
    const list = message(field(1, message(field(2, '9'))), ...items);
    const taken: KubeObject[] = [];
    const skipped: UndecodableObject[] = [];
    const takers = {
      take: (item: KubeObject) => taken.push(item),
      skip: (item: UndecodableObject) => skipped.push(item),
    };
    const decoder = new ProtobufListDecoder(new ProtobufEnvelope(), 'leases', takers);
    decoder.push(envelope('coordination.k8s.io/v1', 'LeaseList', list));
    assert.equal(decoder.end().resourceVersion, '9');
    const seen = taken.map((item) => item.metadata.name);
    assert.deepEqual(seen, ['a', 'c']);
    const found = skipped.map((item) => item.metadata?.name);
    assert.deepEqual(found, ['b', undefined]);
  });

  test('in JSON are the line, or the list item', () => {
    const line = JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    const events = eventsOf(new JsonWatchDecoder(), `${line}\n{"type":"ADDED",\n"text"\n{"type":7}\n${line}\n`);
    assert.deepEqual(events.map(brief), ['ADDED a', 'UNDECODABLE -', 'UNDECODABLE -', 'UNDECODABLE -', 'ADDED a']);
    const taken: KubeObject[] = [];
    const skipped: UndecodableObject[] = [];
    const decoder = new JsonListDecoder({ take: (item) => taken.push(item), skip: (item) => skipped.push(item) });
    decoder.push(
      Buffer.from('{"metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":oops},{"metadata":{"name":"b"}}]}'),
    );
    decoder.end();
    const seen = taken.map((item) => item.metadata.name);
    assert.deepEqual(seen, ['a', 'b']);
    assert.equal(skipped.length, 1);
  });
});

describe('a time outside RFC 3339', () => {
  const envelopeOf = new ProtobufEnvelope();
  const leaseOf = (renewTime: Buffer): ReturnType<typeof transformLease> => {
    const bytes = aLease('a', renewTime);
    return transformLease(envelopeOf.readItem('leases', bytes, 0, bytes.length) as Lease);
  };

  test('in a lease is malformed, and a different one is a change', () => {
    const first = leaseOf(time(2n ** 60n, 1));
    assert.deepEqual([first.renewTime, first.problems?.length], ['1152921504606846976:1', 1]);
    for (const other of [time(2n ** 60n + 1n, 1), time(2n ** 60n, 2), time(-1n, -1n)])
      assert.notEqual(leaseOf(other).renewTime, first.renewTime);
    assert.equal(leaseOf(time(2n ** 60n, 1)).renewTime, first.renewTime);
    assert.equal(leaseOf(time(1_700_000_000)).problems, undefined);
  });

  test('in a node is absent, and the other fields are decoded', () => {
    const unexpressible = time(2n ** 62n);
    const condition = field(
      4,
      message(field(1, 'Ready'), field(2, 'True'), field(3, unexpressible), field(4, time(5))),
    );
    const taint = field(5, message(field(1, 'k'), field(3, 'NoExecute'), field(4, unexpressible)));
    const bytes = message(metadata('a'), field(2, message(taint)), field(3, message(condition)));
    const {
      problems = [],
      taints,
      conditions,
    } = transformNode(envelopeOf.readItem('nodes', bytes, 0, bytes.length) as Node);
    assert.equal(problems.length, 2);
    // What is written back: taints as a list, conditions as a merge, in which only null removes a field.
    assert.deepEqual(JSON.parse(JSON.stringify(taints)), [{ key: 'k', effect: 'NoExecute' }]);
    const { lastHeartbeatTime, lastTransitionTime } = conditions[0] as unknown as { [time: string]: unknown };
    assert.deepEqual([lastHeartbeatTime, lastTransitionTime], [null, '1970-01-01T00:00:05Z']);
  });
});
