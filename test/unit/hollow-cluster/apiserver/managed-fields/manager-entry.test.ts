import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  areWellFormed,
  decodeManagers,
  isSameManager,
  lastOfEach,
  type ManagerEntry,
} from '../../../../../src/hollow-cluster/apiserver/managed-fields/manager-entry.ts';
import { FieldSet } from '../../../../../src/hollow-cluster/apiserver/managed-fields/field-set.ts';

const base = { apiVersion: 'v1', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': {} } } as const;

test('of entries of the same manager the last one counts, at the place of the first', () => {
  const json = [
    { ...base, manager: 'a', time: '2026-01-01T00:00:00Z' },
    { ...base, manager: 'b' },
    { ...base, manager: 'a', time: '2026-01-02T00:00:00Z' },
  ];
  const decoded = decodeManagers(json) ?? [];
  assert.deepEqual(
    decoded.map(({ manager, time }) => [manager, time]),
    [
      ['a', '2026-01-02T00:00:00Z'],
      ['b', undefined],
    ],
  );
});

/** Names that are equal when their parts are joined. */
const names: readonly Pick<ManagerEntry, 'manager' | 'subresource' | 'apiVersion'>[] = [
  { manager: 'a', subresource: 'status', apiVersion: 'v1' },
  { manager: 'as', subresource: 'tatus', apiVersion: 'v1' },
  { manager: 'astatus', subresource: '', apiVersion: 'v1' },
  { manager: 'a', subresource: '', apiVersion: 'v1' },
  { manager: '1,6,a', subresource: 'status', apiVersion: 'v1' },
  { manager: 'a', subresource: 'statusUpdate', apiVersion: 'v1' },
  { manager: 'a', subresource: 'status', apiVersion: 'Updatev1' },
];

test('entries of different managers are different', () => {
  const entries = names.flatMap((name) =>
    (['Apply', 'Update'] as const).map((operation) => ({
      ...name,
      operation,
      time: undefined,
      fields: FieldSet.of(['f:a']),
    })),
  );
  const repeated = entries.filter((entry, at) => entries.slice(at + 1).some((other) => isSameManager(entry, other)));
  assert.deepEqual(
    lastOfEach(entries),
    [...entries].filter((entry) => !repeated.includes(entry)),
  );
  assert.equal(repeated.length, 1, 'an applier is the same in each version');
});

test('the time to decode entries grows with their number, and not with its square', () => {
  const json = Array.from({ length: 20_000 }, (_, index) => ({ ...base, manager: `m${index}` }));
  const known = decodeManagers(json) ?? [];
  const before = process.cpuUsage();
  const decoded = decodeManagers(json, known) ?? [];
  assert.equal(lastOfEach(decoded).length, json.length);
  const { user } = process.cpuUsage(before);
  // Tens of milliseconds; with the square, ten seconds and more.
  assert.ok(user < 2_000_000, `${user} microseconds`);
  assert.ok(decoded.every(({ fields }, index) => fields === known[index]?.fields));
});

test('entries are well formed without unknown fields and values of other types', () => {
  const entry = { ...base, manager: 'a', time: '2026-01-01T00:00:00Z', subresource: 'status' };
  assert.ok(areWellFormed([entry, base]));
  const wrong = [
    { ...entry, other: 'x' },
    { ...entry, time: 'now' },
    { ...entry, time: null },
    { ...entry, manager: 1 },
    { ...entry, fieldsV1: [] },
    { ...entry, fieldsV1: null },
    null,
  ];
  for (const each of wrong) assert.ok(!areWellFormed([entry, each]), JSON.stringify(each));
  for (const each of [undefined, null, {}, 'x']) assert.ok(!areWellFormed(each));
});
