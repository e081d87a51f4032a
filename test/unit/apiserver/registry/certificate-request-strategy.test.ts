import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateRequestStrategy } from '../../../../src/apiserver/registry/certificate-request-strategy.ts';
import { VersionedStore } from '../../../../src/apiserver/storage/versioned-store.ts';
import type { Draft } from '../../../../src/apiserver/storage/stored-object.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { countReads } from '../../../support/count-reads.ts';

const strategy = certificateRequestStrategy(() => true);
const context = {
  objects: new VersionedStore({ clock: new ManualClock(), resources: [] }),
  now: '2026-01-01T00:00:00Z',
};
const group = 'certificates.k8s.io';
type Fields = Record<string, unknown>;
const conditionsOf = (...types: readonly string[]): Fields[] => types.map((type) => ({ type, status: 'True' }));
const draftOf = (conditions: Fields[]): Draft => ({
  metadata: {},
  spec: { usages: ['any'], signerName: 'example.com/signer' },
  status: { conditions },
});
const fieldsOf = (types: readonly string[]): readonly string[] =>
  strategy
    .validateUpdate(draftOf(conditionsOf(...types)), draftOf([]), 'approval', group)
    .map(({ field }) => field)
    .filter((field) => field.startsWith('status'));

test('repeated and contradicting conditions of a certificate request are reported', () => {
  assert.deepEqual(fieldsOf(['Approved', 'Other']), []);
  assert.deepEqual(fieldsOf(['Approved', 'Other', 'Denied', 'Other']), [
    'status.conditions',
    'status.conditions[3].type',
  ]);
});

test('each condition of a certificate request is read a few times only', () => {
  const types = Array.from({ length: 1_000 }, (_, index) => `Type${index}`);
  const given = countReads(conditionsOf(...types));
  strategy.validateUpdate(draftOf(given.items), draftOf([]), 'approval', group);
  assert.ok(given.reads() < 100_000, `${given.reads()} reads`);
  const before = countReads(conditionsOf(...types));
  strategy.prepareUpdate(draftOf(conditionsOf(...types.toReversed())), draftOf(before.items), 'approval', context);
  assert.ok(before.reads() < 100_000, `${before.reads()} reads`);
});

test('a condition keeps the time of the first stored one with its type and status', () => {
  const stored = ['1', '2'].flatMap((lastTransitionTime) =>
    ['True', 'False'].map((status) => ({ type: 'A', status, lastTransitionTime: `${status}${lastTransitionTime}` })),
  );
  const draft = draftOf([{ type: 'A', status: 'False' }, ...conditionsOf('A', 'B')]);
  strategy.prepareUpdate(draft, draftOf(stored), 'approval', context);
  const conditions = draft.status?.['conditions'] as readonly Fields[];
  assert.deepEqual(
    conditions.map(({ lastTransitionTime }) => lastTransitionTime),
    ['False1', 'True1', context.now],
  );
});
