import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { ChunkTooLongError } from '../../../../src/machinery/wire/chunk-buffer.ts';
import { lineBytesMax, LineSplitter } from '../../../../src/machinery/wire/json-watch.ts';

describe('lines of a stream', () => {
  test('are the same however the bytes are cut', () => {
    const aLine = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll('\n', ' '));
    fc.assert(
      fc.property(fc.array(aLine), aLine, fc.array(fc.integer({ min: 1, max: 7 })), (lines, rest, sizes) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join('') + rest);
        const splitter = new LineSplitter();
        const seen: string[] = [];
        let at = 0;
        for (let turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % Math.max(1, sizes.length)] ?? bytes.length;
          for (const line of splitter.push(bytes.subarray(at, at + size))) seen.push(line.toString('utf8'));
          at += size;
        }
        assert.deepEqual(
          seen,
          lines.filter((line) => line !== ''),
        );
        assert.equal(splitter.begunBytes, Buffer.byteLength(rest));
      }),
    );
  });

  test('are limited in length', () => {
    const splitter = new LineSplitter();
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    for (let bytes = 0; bytes < lineBytesMax; bytes += chunk.length) splitter.push(chunk);
    assert.throws(() => splitter.push(Buffer.from('x')), ChunkTooLongError);
  });
});
