import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  canonicalQuantity,
  formatBinary,
  formatDecimal,
  parseQuantity,
  parseQuantityNano,
  sameQuantity,
} from '../../../../src/machinery/api/quantity.ts';

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
    for (const text of ['', 'Mi', '1 Mi', '1MiB', '0x10', '1.2.3', '1e', '--1', 'NaN']) {
      assert.equal(parseQuantity(text), undefined, text);
      assert.equal(parseQuantityNano(text), undefined, text);
    }
    assert.equal(parseQuantityNano(1), undefined);
  });

  it('takes a larger exponent than 999 as 999, and keeps its text', () => {
    for (const text of ['1e1000', '1E1000000000', `1e${'9'.repeat(40_000)}`]) {
      assert.equal(parseQuantityNano(text), 10n ** 1_008n, text.slice(0, 20));
      assert.equal(parseQuantity(text), Number.POSITIVE_INFINITY);
      assert.equal(canonicalQuantity(text), text);
    }
    assert.equal(parseQuantityNano('1e-1000000000'), 1n);
    assert.equal(parseQuantityNano('0e1000000000'), 0n);
    assert.equal(parseQuantityNano('-1e1000000000'), -(10n ** 1_008n));
  });

  it('equals another notation of the same value', () => {
    assert.ok(sameQuantity('1000m', '1'));
    assert.ok(sameQuantity('1Gi', '1024Mi'));
    assert.ok(!sameQuantity('1G', '1Gi'));
    assert.ok(sameQuantity('what', 'what'));
    assert.ok(!sameQuantity('what', 'else'));
  });

  it('has a canonical form, as kube-apiserver 1.36 answers it', () => {
    const recorded: readonly (readonly [string, string])[] = [
      ['0', '0'],
      ['0Mi', '0'],
      ['1', '1'],
      ['1.5', '1500m'],
      ['.5', '500m'],
      ['+2', '+2'],
      ['300m', '300m'],
      ['1000m', '1'],
      ['100u', '100u'],
      ['7n', '7n'],
      ['12k', '12k'],
      ['1500', '1500'],
      ['1000', '1k'],
      ['1000000k', '1G'],
      ['1.5Ki', '1536'],
      ['0.5Ki', '512'],
      ['1Ki', '1Ki'],
      ['1023Ki', '1023Ki'],
      ['1024Ki', '1Mi'],
      ['1024Mi', '1Gi'],
      ['1536Mi', '1536Mi'],
      ['1.5Gi', '1536Mi'],
      ['0.1Gi', '107374182400m'],
      ['0.3Ki', '307200m'],
      ['1500m', '1500m'],
      ['0.0005k', '500m'],
      ['2Gi', '2Gi'],
      ['1E', '1E'],
      ['1Ei', '1Ei'],
      ['2e3', '2e3'],
      ['2000e3', '2e6'],
      ['5E-1', '500e-3'],
      ['1e-12', '1e-9'],
      ['12e2', '1200'],
      ['1e18', '1e18'],
      ['1e21', '1e21'],
      ['1.25e-1', '1.25e-1'],
      ['10000000000000000000', '10E'],
      ['0.0000000001', '1n'],
      ['123456789', '123456789'],
      ['1048576', '1048576'],
      ['5G', '5G'],
      ['5.5M', '5500k'],
      ['16384Ki', '16Mi'],
      ['1e2', '100'],
      ['100e-3', '100e-3'],
      ['1000e-3', '1'],
    ];
    for (const [text, canonical] of recorded) assert.equal(canonicalQuantity(text), canonical, text);
    assert.equal(canonicalQuantity('1.5 Gi'), '1.5 Gi');
  });

  it('is read in linear time, whatever it ends with', () => {
    const text = `${'1'.repeat(100_000)}e1234`;
    const startMs = performance.now();
    assert.equal(canonicalQuantity(text), text);
    assert.ok(performance.now() - startMs < 5_000);
    for (const digits of ['1', '1.', '1.5', '.5']) assert.notEqual(parseQuantity(`-${digits}k`), undefined, digits);
    for (const digits of ['', '.', '1..5', '.5.']) assert.equal(parseQuantity(`${digits}k`), undefined, digits);
  });

  it('is formatted in the shortest exact form', () => {
    assert.deepEqual([0, 1_024, 1_500, 3 * 1_024 ** 2, 2 ** 60].map(formatBinary), ['0', '1Ki', '1500', '3Mi', '1Ei']);
    assert.deepEqual([0, 7, 1_000, 32_768, 7.5].map(formatDecimal), ['0', '7', '1k', '32768', '7500m']);
  });
});
