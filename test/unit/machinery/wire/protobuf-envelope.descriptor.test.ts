// The field numbers of the decoders are those of the descriptor: objects with every field, encoded by it, are decoded to what
// their JSON has.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProtobufEnvelope } from '../../../../src/machinery/wire/protobuf-envelope.ts';
import { ProtobufListDecoder } from '../../../../src/machinery/wire/protobuf-list.ts';
import { ProtobufWatchDecoder } from '../../../../src/machinery/wire/protobuf-watch.ts';
import { transformLease } from '../../../../src/machinery/api/lease.ts';
import type { KubeObject } from '../../../../src/machinery/api/meta.ts';
import { nodeAnnotations, transformNode } from '../../../../src/machinery/api/node.ts';
import { transformPod } from '../../../../src/machinery/api/pod.ts';
import {
  encodeEnvelope,
  encodeWatchFrame,
  ListEncoder,
} from '../../../../src/hollow-cluster/apiserver/codec/protobuf-encoder.ts';
import type { WatchEvent } from '../../../../src/machinery/ports/kube-reader.ts';
import { filledObjects } from '../../../support/filled-objects.ts';

const filled = filledObjects();
const rows = [
  { resource: 'nodes', apiVersion: 'v1', kind: 'Node', transform: transformNode },
  { resource: 'pods', apiVersion: 'v1', kind: 'Pod', transform: transformPod },
  { resource: 'leases', apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', transform: transformLease },
] as const;

/** Every field of the decoded value has the value of the object. */
function assertPart(decoded: unknown, object: unknown, path: string): void {
  if (typeof decoded !== 'object' || decoded === null) return assert.deepEqual(decoded, object, path);
  for (const [name, value] of Object.entries(decoded)) {
    assertPart(value, (object as Readonly<Record<string, unknown>> | undefined)?.[name], `${path}.${name}`);
  }
}

for (const { resource, apiVersion, kind, transform } of rows) {
  test(`a ${kind} with every field: alone, in a list, in a watch and in a bookmark`, () => {
    const { metadata: meta, ...rest } = filled[`${apiVersion} ${kind}, values`] as unknown as KubeObject;
    const read = Object.fromEntries(nodeAnnotations.map((name) => [name, `value of ${name}`]));
    const object: KubeObject = { ...rest, metadata: { ...meta, annotations: { ...meta?.annotations, ...read } } };
    const type = { apiVersion, kind };
    const envelope = new ProtobufEnvelope();

    const alone = envelope.readObject(resource, encodeEnvelope(type, object));
    assertPart(alone, object, kind);
    assert.deepEqual(transform(alone as never), transform(object as never));

    const items: KubeObject[] = [];
    const takers = { take: (item: KubeObject): unknown => items.push(item), skip: () => assert.fail() };
    const list = new ProtobufListDecoder(envelope, resource, takers);
    const encoder = new ListEncoder({ apiVersion, kind: `${kind}List` }, type);
    encoder.prepend(object);
    const metadata = { resourceVersion: '5', continue: 'next', remainingItemCount: 7 };
    for (const part of encoder.finish({ ...metadata, selfLink: 'link' })) list.push(part);
    assert.deepEqual([list.end(), items], [metadata, [alone]]);

    const events: WatchEvent[] = [];
    const watch = new ProtobufWatchDecoder(envelope, resource);
    for (const event of ['MODIFIED', 'BOOKMARK']) watch.push(encodeWatchFrame(event, type, object), events);
    const { resourceVersion, annotations } = object.metadata ?? {};
    assert.deepEqual(events, [
      { type: 'MODIFIED', object: alone },
      { type: 'BOOKMARK', object: { metadata: { resourceVersion, annotations } } },
    ]);
  });
}

test('a Status with every field', () => {
  const status = {
    kind: 'Status',
    status: 'Failure',
    message: 'why',
    reason: 'Invalid',
    code: 422,
    details: {
      name: 'a',
      group: 'b',
      kind: 'c',
      uid: 'd',
      causes: [{ reason: 'e', message: 'f', field: 'g' }],
      retryAfterSeconds: 8,
    },
  };
  const bytes = encodeEnvelope({ apiVersion: 'v1', kind: 'Status' }, { ...status, metadata: { resourceVersion: '5' } });
  assert.deepEqual(new ProtobufEnvelope().readStatus(bytes), status);
});
