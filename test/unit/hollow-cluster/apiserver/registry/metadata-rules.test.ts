import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropRepeatedOwners } from '../../../../../src/hollow-cluster/apiserver/registry/metadata-rules.ts';
import { countReads } from '../../../../support/count-reads.ts';

test('repeated owners are dropped, each owner read a few times only', () => {
  const ownerOf = (index: number): { readonly [field: string]: unknown } => ({
    apiVersion: 'v1',
    kind: 'Node',
    name: `n${index}`,
    uid: `u${index}`,
  });
  const twin = { uid: 'u0', name: 'n0', kind: 'Node', apiVersion: 'v1' };
  const originals = [...Array.from({ length: 1_000 }, (_, index) => ownerOf(index)), twin];
  const { items, reads } = countReads(originals);
  const metadata = { ownerReferences: items };
  assert.equal(dropRepeatedOwners(metadata).length, 1);
  assert.deepEqual(metadata.ownerReferences, originals.slice(0, 1_000));
  assert.ok(reads() < 100_000, `${reads()} reads`);
  assert.deepEqual(dropRepeatedOwners(metadata), []);
});
