import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProtobufObjects } from '../../../../src/machinery/wire/protobuf-objects.ts';
import { ProtobufReader } from '../../../../src/machinery/wire/protobuf-reader.ts';
import { type NodeView, transformNode } from '../../../../src/machinery/api/node.ts';
import { entry, field, message } from '../../../support/protobuf-writer.ts';

function decode(...annotations: readonly (readonly [string, string])[]): NodeView {
  const entries = annotations.map(([key, value]) => entry(12, key, value));
  const meta = message(field(1, 'worker'), entry(11, 'pool', 'edge'), ...entries, field(5, 'uid'));
  const bytes = message(field(1, meta));
  const source = new ProtobufReader();
  source.begin(bytes, 0, bytes.length);
  const view = transformNode(new ProtobufObjects(source).read('nodes', bytes.length));
  assert.deepEqual([view.name, view.uid, view.labels], ['worker', 'uid', { pool: 'edge' }]);
  return view;
}

function pauseOf(...annotations: readonly (readonly [string, string])[]): string | undefined {
  return decode(...annotations).pause;
}

test('of the annotations of a node those that are read are decoded', () => {
  assert.equal(pauseOf(), undefined);
  assert.equal(pauseOf(['volumes.example.com/attached', 'true']), undefined);
  assert.equal(pauseOf(['nodelifecycle/paused', 'true']), 'true');
  assert.equal(
    pauseOf(['a', 'b'], ['nodelifecycle/paused', '2026-11-23T18:00:00Z'], ['z', '']),
    '2026-11-23T18:00:00Z',
  );
  assert.equal(pauseOf(['nodelifecycle/paused', '']), '');
  assert.equal(pauseOf(['nodelifecycle/pausedX', 'true'], ['nodelifecycle/pause', 'true']), undefined);
  const fenced = decode(
    ['nodelifecycle/out-of-service-evidence', '{}'],
    ['a', 'b'],
    ['nodelifecycle/fenced', 'boot-1'],
  );
  assert.deepEqual([fenced.pause, fenced.fenced, fenced.outOfService], [undefined, 'boot-1', '{}']);
});
