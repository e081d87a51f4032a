import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formatBinary,
  formatDecimal,
  parseQuantity,
  parseQuantityNano,
  sameQuantity,
} from '../../../src/api/quantity.ts';

describe('a quantity', () => {
  const texts: readonly (readonly [string, number, bigint])[] = [
    ['0', 0, 0n],
    ['1', 1, 1_000_000_000n],
    ['1.5', 1.5, 1_500_000_000n],
    ['.5', 0.5, 500_000_000n],
    ['+2', 2, 2_000_000_000n],
    ['-3', -3, -3_000_000_000n],
    ['300m', 0.3, 300_000_000n],
    ['100u', 0.0001, 100_000n],
    ['7n', 7e-9, 7n],
    ['12k', 12_000, 12_000_000_000_000n],
    ['1.5Ki', 1_536, 1_536_000_000_000n],
    ['2Gi', 2 * 1_024 ** 3, 2_147_483_648_000_000_000n],
    ['1E', 1e18, 10n ** 27n],
    ['1Ei', 2 ** 60, 2n ** 60n * 10n ** 9n],
    ['2e3', 2_000, 2_000_000_000_000n],
    ['5E-1', 0.5, 500_000_000n],
    ['1e-12', 1e-12, 1n],
  ];

  for (const [text, number, nano] of texts) {
    it(`${text} is ${number}`, () => {
      assert.equal(parseQuantity(text), number);
      assert.equal(parseQuantityNano(text), nano);
    });
  }

  it('rejects malformed quantities', () => {
    for (const text of ['', 'Mi', '1 Mi', '1MiB', '0x10', '1.2.3', '1e', '1e1000000', '--1', 'NaN']) {
      assert.equal(parseQuantity(text), undefined, text);
      assert.equal(parseQuantityNano(text), undefined, text);
    }
    assert.equal(parseQuantityNano(1), undefined);
  });

  it('equals another notation of the same value', () => {
    assert.ok(sameQuantity('1000m', '1'));
    assert.ok(sameQuantity('1Gi', '1024Mi'));
    assert.ok(!sameQuantity('1G', '1Gi'));
    assert.ok(sameQuantity('what', 'what'));
    assert.ok(!sameQuantity('what', 'else'));
  });

  it('is formatted in the shortest exact form', () => {
    assert.deepEqual([0, 1_024, 1_500, 3 * 1_024 ** 2, 2 ** 60].map(formatBinary), ['0', '1Ki', '1500', '3Mi', '1Ei']);
    assert.deepEqual([0, 7, 1_000, 32_768, 7.5].map(formatDecimal), ['0', '7', '1k', '32768', '7500m']);
  });
});
