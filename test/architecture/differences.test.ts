// The list of differences and its sources: deviating vectors, limitations of kube-controller-manager, and parity tests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meantDifferences } from '../control-plane/parity/meant-differences.ts';
import {
  differenceAreas,
  differencesIn,
  readDifferences,
  readKeptLimitations,
} from '../../tools/docs/difference-records.ts';
import deviations from '../vectors/deviations.json' with { type: 'json' };

test('every deviating vector is in the list of its record, and in no other', () => {
  const listed = readDifferences().flatMap(({ record, vectors }) => vectors.map((id) => `${id} ${record}`));
  const claimed = Object.entries(deviations).map(([id, record]) => `${id} ${record}`);
  assert.ok(claimed.length > 0);
  assert.deepEqual(listed.toSorted(), claimed.toSorted());
});

test('every limitation of kube-controller-manager is either a difference or intentionally kept', () => {
  const mended = new Set(readDifferences().flatMap(({ limitations }) => limitations));
  const kept = readKeptLimitations().map(({ number }) => number);
  const all = [...mended, ...kept].toSorted((a, b) => a - b);
  assert.deepEqual(
    all,
    Array.from({ length: 41 }, (_, index) => index + 1),
  );
});

test('every record of an intended difference in the parity test lists differences', () => {
  const listing = new Set(readDifferences().map(({ record }) => record));
  const silent = meantDifferences.map(({ record }) => record).filter((record) => !listing.has(record));
  assert.deepEqual([...new Set(silent)], []);
});

test('every difference has an area of the page', () => {
  const areas: readonly string[] = differenceAreas;
  const homeless = readDifferences().filter(({ area }) => !areas.includes(area));
  assert.deepEqual(homeless, []);
});

const heading = '# x\n\n## Differences\n\n| area | reference | here | why | limitation | vectors |\n| --- | --- |\n';

test('an incomplete row is rejected, and a record without a list has no differences', () => {
  assert.throws(() => differencesIn('0042-x.md', `${heading}| zones | a | b | | | |\n`), /incomplete row/u);
  assert.throws(() => differencesIn('0042-x.md', `${heading}| zones | a | b | c | |\n`), /incomplete row/u);
  assert.throws(() => differencesIn('0042-x.md', '\n## Differences\n\n| area | here |\n'), /the columns are/u);
  assert.deepEqual(differencesIn('0042-x.md', '# x\n\n## Decision\n'), []);
  const [only] = differencesIn('0042-x.md', `${heading}| zones | a | b | c | 3, 4 | \`x-001\`, \`x-002\` |\n`);
  const seen = [only?.limitations, only?.vectors];
  assert.deepEqual(seen, [
    [3, 4],
    ['x-001', 'x-002'],
  ]);
});
