import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { frameBytesMax, JsonListDecoder } from '../../../../src/adapters/json-list.ts';
import { PieceTooLongError } from '../../../../src/adapters/piece-gatherer.ts';

interface Read {
  readonly metadata: unknown;
  readonly items: readonly unknown[];
}

function readCut(text: string, sizes: readonly number[]): Read {
  const bytes = Buffer.from(text);
  const items: unknown[] = [];
  const decoder = new JsonListDecoder((item) => items.push(item));
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    decoder.push(bytes.subarray(at, at + size));
    at += size;
  }
  return { metadata: decoder.end(), items };
}

/** What JSON's own parser makes of it; undefined where it is no list. */
function readWhole(text: string): Read | undefined {
  try {
    const { metadata, items } = JSON.parse(text) as { metadata: unknown; items: unknown };
    const isMap = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata);
    return isMap && Array.isArray(items) ? { metadata, items: items as unknown[] } : undefined;
  } catch {
    return undefined;
  }
}

/** Texts full of what means something in JSON. */
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

describe('a list in JSON, split into its items', () => {
  test('is what the parser of JSON makes of the whole, cut anywhere', () => {
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

  test('with a byte that is wrong: read the same way, or refused', () => {
    fc.assert(
      fc.property(
        list,
        fc.nat(),
        fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', ' ', 'x'),
        ({ metadata, items }, at, byte) => {
          const text = JSON.stringify({ kind: 'PodList', metadata, items });
          const cut = text.slice(0, at % text.length) + byte + text.slice((at % text.length) + 1);
          // Without half characters, which bytes cannot have.
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
    test(`${text} is refused`, () => assert.throws(() => readCut(text, [3]), { name: 'ApiError', reason: 'internal' }));
  }

  test('none is empty, and so is null', () => {
    assert.deepEqual(readCut('{"metadata":{"resourceVersion":"1"},"items":[ ]}', [5]).items, []);
    assert.deepEqual(readCut('{"metadata":{},"items":null}', [5]).items, []);
  });

  test('what is around the items does not grow for ever', () => {
    const decoder = new JsonListDecoder(() => undefined);
    decoder.push(Buffer.from('{"kind":"'));
    assert.throws(() => decoder.push(Buffer.alloc(frameBytesMax, 'x')), PieceTooLongError);
  });
});
