import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { frameBytesMax, JsonListDecoder } from '../../../../src/machinery/wire/json-list.ts';
import { ChunkTooLongError } from '../../../../src/machinery/wire/chunk-buffer.ts';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import type { UndecodableObject } from '../../../../src/machinery/ports/kube-reader.ts';

interface Read {
  readonly metadata: unknown;
  readonly items: readonly unknown[];
}

function readCut(text: string, sizes: readonly number[]): Read {
  const bytes = Buffer.from(text);
  const items: unknown[] = [];
  const decoder = new JsonListDecoder({ take: (item) => items.push(item), skip: refuse });
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    decoder.push(bytes.subarray(at, at + size));
    at += size;
  }
  return { metadata: decoder.end(), items };
}

/** A list with an item that is not JSON is not JSON. */
function refuse({ problem }: UndecodableObject): never {
  throw new ApiError({ reason: 'internal', message: problem });
}

/** The result of JSON.parse; undefined if it is not a list. */
function readWhole(text: string): Read | undefined {
  try {
    const { metadata, items } = JSON.parse(text) as { metadata: unknown; items: unknown };
    const isMap = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata);
    return isMap && Array.isArray(items) ? { metadata, items: items as unknown[] } : undefined;
  } catch {
    return undefined;
  }
}

/** Strings full of structural characters. */
const tricky = fc.string({
  unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', 'items', 'ä', '🚀', ' ', '\n'),
});
const value = fc.jsonValue({ stringUnit: 'grapheme' });
const item = fc.oneof(value, tricky, fc.dictionary(tricky, fc.oneof(tricky, fc.array(tricky))));
const list = fc.record({
  first: fc.dictionary(fc.constantFrom('kind', 'apiVersion', 'x "items', '\\"items\\'), item),
  metadata: fc.dictionary(fc.constantFrom('resourceVersion', 'continue', 'items'), item),
  items: fc.array(item),
  last: fc.dictionary(fc.constantFrom('more', 'x'), item),
  indent: fc.constantFrom(0, 2),
});
const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 });

describe('a JSON list, decoded item by item', () => {
  test('equals the result of JSON.parse, in chunks of any size', () => {
    fc.assert(
      fc.property(list, sizes, ({ first, metadata, items, last, indent }, sizes) => {
        const text = JSON.stringify({ ...first, metadata, items, ...last }, null, indent);
        assert.deepEqual(readCut(text, sizes), readWhole(text));
        const other = JSON.stringify({ ...first, items, ...last, metadata }, null, indent);
        assert.deepEqual(readCut(other, sizes), readWhole(other));
      }),
      { numRuns: 500 },
    );
  });

  test('with a corrupt byte: decoded as by JSON.parse, or rejected', () => {
    fc.assert(
      fc.property(
        list,
        fc.nat(),
        fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', ' ', 'x'),
        ({ metadata, items }, at, byte) => {
          const text = JSON.stringify({ kind: 'PodList', metadata, items });
          const cut = text.slice(0, at % text.length) + byte + text.slice((at % text.length) + 1);
          // Without lone surrogates, which UTF-8 cannot represent.
          const damaged = Buffer.from(cut).toString('utf8');
          const whole = readWhole(damaged);
          if (whole === undefined) assert.throws(() => readCut(damaged, [7]));
          else assert.deepEqual(readCut(damaged, [7]), whole);
        },
      ),
      { numRuns: 500 },
    );
  });

  for (const text of [
    '{"metadata":{},"items":[1,]}',
    '{"metadata":{},"items":[,1]}',
    '{"metadata":{},"items":[1 2]}',
  ]) {
    test(`${text} is rejected`, () =>
      assert.throws(() => readCut(text, [3]), { name: 'ApiError', reason: 'internal' }));
  }

  test('an empty array and null are empty lists', () => {
    assert.deepEqual(readCut('{"metadata":{"resourceVersion":"1"},"items":[ ]}', [5]).items, []);
    assert.deepEqual(readCut('{"metadata":{},"items":null}', [5]).items, []);
  });

  test('the part around the items is limited in size', () => {
    const decoder = new JsonListDecoder({ take: () => undefined, skip: refuse });
    decoder.push(Buffer.from('{"kind":"'));
    assert.throws(() => decoder.push(Buffer.alloc(frameBytesMax, 'x')), ChunkTooLongError);
  });
});
