import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitExponent } from '../../bench/fit-exponent.ts';

const sizes = [500, 1_000, 2_000, 5_000];
const points = (value: (size: number) => number): { size: number; value: number }[] =>
  sizes.map((size) => ({ size, value: value(size) }));

function near(actual: number | undefined, expected: number): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) < 1e-9, `${actual} instead of ${expected}`);
}

test('a constant, proportional and quadratic figure has the exponent 0, 1 and 2', () => {
  near(fitExponent(points(() => 7)), 0);
  near(fitExponent(points((size) => 3 * size)), 1);
  near(fitExponent(points((size) => size ** 2 / 9)), 2);
});

test('values that are not positive are left out', () => {
  near(fitExponent([{ size: 100, value: 0 }, { size: 200, value: -1 }, ...points((size) => size)]), 1);
});

test('one size is not enough', () => {
  assert.equal(fitExponent([]), undefined);
  assert.equal(fitExponent([{ size: 500, value: 1 }]), undefined);
  assert.equal(
    fitExponent([
      { size: 500, value: 1 },
      { size: 500, value: 2 },
    ]),
    undefined,
  );
});
