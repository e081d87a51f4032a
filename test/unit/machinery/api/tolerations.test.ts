import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Toleration, tolerates, tolerationFinder } from '../../../../src/machinery/api/tolerations.ts';
import { SeededRandom } from '../../../support/fakes.ts';

const random = new SeededRandom(1);
const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T;
const texts = ['', 'a', 'b', '1 a', 'a b'] as const;
const values = [...texts, '-7', '0', '3', '4', '007', '9223372036854775808'] as const;
const effects = ['', 'NoExecute', 'NoSchedule', 'Unknown'] as const;

function aToleration(): Toleration {
  const operator = pick([undefined, '', 'Equal', 'Exists', 'In', 'Lt', 'Gt', 'Lt', 'Gt'] as const);
  const all = { key: pick(texts), value: pick(values), effect: pick(effects), tolerationSeconds: 1 };
  return operator === undefined ? all : { ...all, operator };
}

test('of many tolerations the first in list order that matches a taint is found, as one by one', () => {
  for (let round = 0; round < 500; round += 1) {
    const tolerations = Array.from({ length: Math.floor(random.next() * 20) }, aToleration);
    const find = tolerationFinder(tolerations, 1_000);
    for (let place = 0; place < 20; place += 1) {
      const taint = { key: pick(texts), value: pick(values), effect: pick(['NoExecute', 'NoSchedule']) };
      assert.equal(
        find(taint),
        tolerations.find((candidate) => tolerates(candidate, taint)),
      );
    }
  }
});

test('Lt and Gt compare the value of the taint with that of the toleration, as 64-bit integers', () => {
  const isTolerated = (operator: string, bound: string, value: string): boolean =>
    tolerates({ key: 'sla', operator, value: bound }, { key: 'sla', value, effect: 'NoExecute' });
  const comparisons = [
    ['Gt', '950', '951', true],
    ['Gt', '950', '950', false],
    ['Gt', '-5', '-4', true],
    ['Lt', '950', '949', true],
    ['Lt', '950', '950', false],
    ['Lt', '0', '-9223372036854775808', true],
    // Beyond the precision of a double.
    ['Gt', '9223372036854775806', '9223372036854775807', true],
  ] as const;
  for (const [operator, bound, value, expected] of comparisons)
    assert.equal(isTolerated(operator, bound, value), expected, `${value} ${operator} ${bound}`);
});

test('what is no decimal 64-bit integer compares with nothing, on either side', () => {
  for (const text of ['', '+5', '05', '-0', '--5', '5.0', '5e3', ' 5', '0x5', '9223372036854775808', 'five']) {
    for (const operator of ['Lt', 'Gt']) {
      const asTaint = { key: 'sla', value: text, effect: 'NoExecute' };
      assert.ok(!tolerates({ key: 'sla', operator, value: '5' }, asTaint), `taint ${text}`);
      const taint = { key: 'sla', value: '6', effect: 'NoExecute' };
      assert.ok(!tolerates({ key: 'sla', operator, value: text }, taint), `toleration ${text}`);
    }
  }
});

test('of many comparisons the first that holds is found', () => {
  const tolerations = Array.from({ length: 1_000 }, (_, index) => {
    return { key: 'sla', operator: 'Gt', value: String(1_000 - index), tolerationSeconds: index };
  });
  const find = tolerationFinder(tolerations, 1_000);
  assert.equal(find({ key: 'sla', value: '500', effect: 'NoExecute' })?.tolerationSeconds, 501);
  assert.equal(find({ key: 'sla', value: '1', effect: 'NoExecute' }), undefined);
  assert.equal(find({ key: 'other', value: '500', effect: 'NoExecute' }), undefined);
});
