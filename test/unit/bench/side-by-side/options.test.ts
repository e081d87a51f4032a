import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOptions } from '../../../bench/side-by-side/options.ts';

test('without options it is one run of 2,000 nodes', () => {
  const { sizes, podsPerNode, first, quick, growth } = parseOptions([]);
  assert.deepEqual([sizes, podsPerNode, first, quick, growth], [[2_000], 10, 'kube-controller-manager', false, false]);
});

test('--growth runs several sizes', () => {
  assert.deepEqual(parseOptions(['--growth']).sizes, [500, 1_000, 2_000, 5_000]);
  assert.deepEqual(parseOptions(['--growth', '--sizes=200,400', '--nodes=300']).sizes, [200, 400]);
});

test('invalid values are rejected with what is accepted', () => {
  assert.throws(() => parseOptions(['--nodes=100']), /--nodes: must be an integer >= 120 \(got 100\)/u);
  assert.throws(() => parseOptions(['--growth', '--sizes=500,x']), /--sizes: must be an integer >= 120 \(got x\)/u);
  assert.throws(() => parseOptions(['--first=a']), /--first: must be one of kube-controller-manager, nlc \(got a\)/u);
  assert.throws(() => parseOptions(['--fast']), /--fast/u);
});

test('--from names the files of earlier runs', () => {
  assert.deepEqual(parseOptions([]).from, []);
  assert.deepEqual(parseOptions(['--growth', '--from=a.json,b.json']).from, ['a.json', 'b.json']);
});
