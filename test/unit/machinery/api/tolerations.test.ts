import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Toleration, tolerates, tolerationFinder } from '../../../../src/machinery/api/tolerations.ts';
import { SeededRandom } from '../../../support/fakes.ts';

const random = new SeededRandom(1);
const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T;
const texts = ['', 'a', 'b', '1 a', 'a b'] as const;
const effects = ['', 'NoExecute', 'NoSchedule', 'Unknown'] as const;

function aToleration(): Toleration {
  const operator = pick([undefined, '', 'Equal', 'Exists', 'In'] as const);
  const all = { key: pick(texts), value: pick(texts), effect: pick(effects), tolerationSeconds: 1 };
  return operator === undefined ? all : { ...all, operator };
}

test('of many tolerations the first in list order that matches a taint is found, as one by one', () => {
  for (let round = 0; round < 500; round += 1) {
    const tolerations = Array.from({ length: Math.floor(random.next() * 20) }, aToleration);
    const find = tolerationFinder(tolerations, 1_000);
    for (let place = 0; place < 20; place += 1) {
      const taint = { key: pick(texts), value: pick(texts), effect: pick(['NoExecute', 'NoSchedule']) };
      assert.equal(
        find(taint),
        tolerations.find((candidate) => tolerates(candidate, taint)),
      );
    }
  }
});
