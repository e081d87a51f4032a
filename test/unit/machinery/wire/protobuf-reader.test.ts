import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import protobuf from 'protobufjs';
import { MalformedProtobufError, ProtobufReader } from '../../../../src/machinery/wire/protobuf-reader.ts';
import { PartInterner, StringInterner, type Words } from '../../../../src/machinery/wire/string-interner.ts';
import { field, message } from '../../../support/protobuf-writer.ts';

function sourceOf(bytes: Buffer): ProtobufReader {
  const source = new ProtobufReader();
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

  test('strings, when read again', () => {
    const source = new ProtobufReader();
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

  test('times as in JSON', () => {
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

  test('a time outside RFC 3339 becomes its exact numbers, so that different times have different texts', () => {
    const time = (seconds: bigint, nanos: number): Buffer =>
      field(1, message(field(1, seconds), field(2, BigInt(nanos)))).subarray(1);
    const read = (seconds: bigint, nanos: number): readonly (string | null)[] => [
      sourceOf(time(seconds, nanos)).time(),
      sourceOf(time(seconds, nanos)).microTime(),
    ];
    for (const seconds of [2n ** 60n, 2n ** 60n + 1n, 253_402_300_800n, -62_167_219_201n, 2n ** 63n - 1n, -(2n ** 63n)])
      assert.deepEqual(read(seconds, 7), [`${seconds}:7`, `${seconds}:7`]);
    for (const nanos of [-1, 1_000_000_000, 2 ** 31 - 1, -(2 ** 31)])
      assert.deepEqual(read(0n, nanos), ['1970-01-01T00:00:00Z', `0:${nanos}`]);
    assert.deepEqual(read(253_402_300_799n, 0), ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000000Z']);
  });

  for (const [name, bytes, read] of [
    ['a string longer than the buffer', [5, 0x61], (source: ProtobufReader) => source.text()],
    ['an unterminated varint', [0x80, 0x80], (source: ProtobufReader) => source.int64()],
    ['a varint of eleven bytes', Array<number>(11).fill(0x80), (source: ProtobufReader) => source.int64()],
    ['field number zero', [0x02], (source: ProtobufReader) => source.tag()],
    ['a group', [], (source: ProtobufReader) => source.skip(0x0b)],
    ['eight missing bytes', [1, 2], (source: ProtobufReader) => source.skip(0x09)],
  ] as const) {
    test(`${name} is malformed`, () => {
      assert.throws(() => read(sourceOf(Buffer.from(bytes))), MalformedProtobufError);
    });
  }

  test('a tag of one byte or two ends with the message, regardless of the following bytes', () => {
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

describe('the string cache', () => {
  /** Number of strings that the cache creates for these reads. */
  const madeFor = (cache: StringInterner, texts: readonly string[]): number => {
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

  test('a string always matches its own bytes, even after its entry was replaced', () => {
    const cache = new StringInterner();
    // Far more strings than entries, so that each entry is replaced many times.
    for (let turn = 0; turn < 3; turn += 1) {
      for (let n = 0; n < 100_000; n += 1) {
        const text = `${'x'.repeat(n % 59)}${n}`;
        const bytes = Buffer.from(`?${text}`);
        assert.equal(cache.read(wordsOf(bytes), 1, bytes.length), text);
      }
    }
  });

  test('the same string is not created again', () => {
    const cache = new StringInterner();
    const texts = ['a', 'node-1', 'x'.repeat(64), 'ä', 'äx', ''];
    assert.ok(madeFor(cache, texts) <= texts.length);
    assert.equal(madeFor(cache, texts), 0);
  });

  test('strings that recur in the same order are not created again, even with hash collisions', () => {
    const cache = new StringInterner();
    assert.equal(madeFor(cache, many), many.length);
    assert.equal(madeFor(cache, many), 0);
  });

  test('strings that recur in another order are found too, except for a few hash collisions', () => {
    const cache = new StringInterner();
    madeFor(cache, many);
    assert.ok(madeFor(cache, many.toReversed()) < many.length / 20);
  });

  test("strings above the cache's size limit are read correctly", () => {
    const cache = new StringInterner();
    const texts = ['x'.repeat(65), 'y'.repeat(300)];
    assert.equal(madeFor(cache, texts), 2);
    assert.equal(madeFor(cache, texts), 2);
  });

  test('a cached part matches by all of its bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 50 }), fc.nat(), (given, at) => {
        const cache = new PartInterner<string>();
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
