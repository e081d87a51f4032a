// Whether a machine can run the stories on a real cluster is said before anything is built, with the reason that no installation changes first.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeMissing, type MachineReport } from '../../../cluster/machine/describe-missing.ts';

const able: MachineReport = {
  platform: 'linux',
  isRoot: true,
  isUnified: false,
  absentHierarchies: [],
  absentPrograms: [],
};
/** What a host with control groups v2 alone reports to a user without rights and without programs. */
const unified: MachineReport = {
  platform: 'linux',
  isRoot: false,
  isUnified: true,
  absentHierarchies: ['cpu', 'memory'],
  absentPrograms: ['go'],
};

test('a machine that has everything can', () => {
  assert.equal(describeMissing(able), undefined);
});

test('a host with control groups v2 alone cannot, whatever else is missing', () => {
  const sentence = describeMissing(unified) ?? '';
  assert.match(sentence, /^control groups v1 are needed, and this machine has v2 only/);
  assert.doesNotMatch(sentence, /apt-get|root/);
});

test('a host with v1 and v2 side by side can, unless a hierarchy of v1 is not mounted', () => {
  const absent = describeMissing({ ...able, absentHierarchies: ['memory', 'pids'] });
  assert.equal(absent, 'control groups v1 of memory, pids are not mounted in /sys/fs/cgroup');
});

test('another system, a user without rights and absent programs are named', () => {
  assert.equal(describeMissing({ ...unified, platform: 'darwin' }), 'Linux is needed (this is darwin)');
  assert.match(describeMissing({ ...able, isRoot: false }) ?? '', /^root is needed/);
  assert.match(
    describeMissing({ ...able, absentPrograms: ['go', 'ipset'] }) ?? '',
    /^no go, ipset on the PATH .*apt-get/,
  );
});
