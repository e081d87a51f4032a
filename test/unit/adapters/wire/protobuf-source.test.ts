import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import protobuf from 'protobufjs';
import { MalformedProtobufError, ProtobufSource } from '../../../../src/adapters/protobuf-source.ts';
import { PartCache, TextCache, type Words } from '../../../../src/adapters/text-cache.ts';
import { field, message } from '../../../support/protobuf-writer.ts';

function sourceOf(bytes: Buffer): ProtobufSource {
  const source = new ProtobufSource();
  source.begin(bytes, 0, bytes.length);
  return source;
}

function wordsOf(bytes: Buffer): Words {
  return { bytes, memory: new DataView(bytes.buffer), offset: bytes.byteOffset };
}

describe('the wire format of protobuf', () => {
  test('whole numbers of either sign', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const bytes = Buffer.from(protobuf.Writer.create().int64(value).finish());
        assert.equal(sourceOf(bytes).int64(), value);
      }),
    );
  });

  test('texts, the second time as the first', () => {
    const source = new ProtobufSource();
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 90 })), (texts) => {
        const bytes = message(...texts.map((text) => field(1, text)));
        for (let turn = 0; turn < 2; turn += 1) {
          source.begin(bytes, 0, bytes.length);
          const read = texts.map(() => (source.tag() === 0x0a ? source.text() : undefined));
          assert.deepEqual(read, texts);
        }
      }),
    );
  });

  test('times are those of JSON', () => {
    const time = (seconds: number, nanos: number): Buffer => {
      const inner = protobuf.Writer.create().uint32(8).int64(seconds).uint32(16).int32(nanos).finish();
      return field(1, Buffer.from(inner)).subarray(1);
    };
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), fc.nat(999_999), (seconds, micros) => {
        const whole = new Date(seconds * 1_000).toISOString().slice(0, 19);
        assert.equal(sourceOf(time(seconds, micros * 1_000)).time(), `${whole}Z`);
        const text = `${whole}.${String(micros).padStart(6, '0')}Z`;
        assert.equal(sourceOf(time(seconds, micros * 1_000 + 999)).microTime(), text);
      }),
    );
    assert.equal(sourceOf(Buffer.from([0])).time(), null);
    assert.equal(sourceOf(Buffer.from([0])).microTime(), null);
  });

  for (const [name, bytes, read] of [
    ['a text that is longer than what is there', [5, 0x61], (source: ProtobufSource) => source.text()],
    ['a number without an end', [0x80, 0x80], (source: ProtobufSource) => source.int64()],
    ['a number of eleven bytes', Array<number>(11).fill(0x80), (source: ProtobufSource) => source.int64()],
    ['field number zero', [0x02], (source: ProtobufSource) => source.tag()],
    ['a group', [], (source: ProtobufSource) => source.skip(0x0b)],
    ['eight bytes that are not there', [1, 2], (source: ProtobufSource) => source.skip(0x09)],
    [
      'a time beyond all years',
      [9, 8, 255, 255, 255, 255, 255, 255, 255, 127],
      (source: ProtobufSource) => source.time(),
    ],
  ] as const) {
    test(`${name} is malformed`, () => {
      assert.throws(() => read(sourceOf(Buffer.from(bytes))), MalformedProtobufError);
    });
  }

  test('a tag of one byte or two ends with the message, whatever lies behind', () => {
    const bytes = Buffer.from([0xb2, 0x01, 0x08]);
    const source = sourceOf(bytes);
    assert.deepEqual([source.tag(), source.tag()], [(22 << 3) | 2, 8]);
    source.begin(bytes, 0, 1);
    assert.throws(() => source.tag(), MalformedProtobufError);
    source.begin(bytes, 0, 2);
    assert.equal(source.tag(), (22 << 3) | 2);
    assert.throws(() => source.tag(), MalformedProtobufError);
  });
});

describe('what was read before', () => {
  /** How often the cache makes a text anew while it reads these. */
  const madeFor = (cache: TextCache, texts: readonly string[]): number => {
    let made = 0;
    for (const text of texts) {
      const bytes = Buffer.from(`?${text}`);
      const watched = Object.assign(bytes, {
        toString(...args: Parameters<Buffer['toString']>) {
          made += 1;
          return Buffer.prototype.toString.apply(bytes, args);
        },
      });
      assert.equal(cache.read(wordsOf(watched), 1, bytes.length), text);
    }
    return made;
  };
  const many = Array.from({ length: 1_000 }, (_, n) => `node-${n}`);

  test('a text is that of its own bytes, whatever else has its place', () => {
    const cache = new TextCache();
    // Far more than there are places, so that each is taken over many times.
    for (let turn = 0; turn < 3; turn += 1) {
      for (let n = 0; n < 100_000; n += 1) {
        const text = `${'x'.repeat(n % 59)}${n}`;
        const bytes = Buffer.from(`?${text}`);
        assert.equal(cache.read(wordsOf(bytes), 1, bytes.length), text);
      }
    }
  });

  test('the same text is not made again', () => {
    const cache = new TextCache();
    const texts = ['a', 'node-1', 'x'.repeat(64), 'ä', 'äx', ''];
    assert.ok(madeFor(cache, texts) <= texts.length);
    assert.equal(madeFor(cache, texts), 0);
  });

  test('what comes again in the same order is not made again, however its hashes fall', () => {
    const cache = new TextCache();
    assert.equal(madeFor(cache, many), many.length);
    assert.equal(madeFor(cache, many), 0);
  });

  test('what comes again in another order is found too, but for the few that share a hash', () => {
    const cache = new TextCache();
    madeFor(cache, many);
    assert.ok(madeFor(cache, many.toReversed()) < many.length / 20);
  });

  test('what is longer than most names is read all the same', () => {
    const cache = new TextCache();
    const texts = ['x'.repeat(65), 'y'.repeat(300)];
    assert.equal(madeFor(cache, texts), 2);
    assert.equal(madeFor(cache, texts), 2);
  });

  test('a part is known by all of its bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 50 }), fc.nat(), (given, at) => {
        const cache = new PartCache<string>();
        const bytes = Buffer.from(given);
        cache.set(wordsOf(bytes), 0, bytes.length, 'known');
        assert.equal(cache.get(wordsOf(Buffer.from(given)), 0, bytes.length), 'known');
        const place = at % bytes.length;
        bytes[place] = (bytes[place] ?? 0) ^ 1;
        assert.equal(cache.get(wordsOf(bytes), 0, bytes.length), undefined);
        assert.equal(cache.get(wordsOf(bytes), 0, bytes.length - 1), undefined);
      }),
    );
  });
});
