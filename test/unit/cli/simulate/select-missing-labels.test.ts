import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeMissingLabels, selectMissingLabels } from '../../../../src/cli/simulate/select-missing-labels.ts';
import { aPolicy } from '../../../support/builders.ts';

const pool = aPolicy({ name: 'edge', selector: [{ key: 'pool', operator: 'Exists', values: undefined }] as never });
const racks = aPolicy({ name: 'metal', zones: { failureDomain: ['rack'], settings: {} } });

test('zones are in every trace, names of nodes unless they are hashed, other labels where they are recorded', () => {
  assert.deepEqual(selectMissingLabels([aPolicy()], { hashedNames: true }), []);
  assert.deepEqual(selectMissingLabels([pool], { hashedNames: false, labels: ['pool'] }), []);
  const named = aPolicy({ selector: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n'] }] });
  assert.deepEqual(selectMissingLabels([named], { hashedNames: false }), []);
  assert.deepEqual(selectMissingLabels([named], { hashedNames: true }), [
    { policy: 'zone-a', keys: ['kubernetes.io/hostname'] },
  ]);
});

test('labels of selectors and of failure domains are missing, each once, also if both configurations have the policy', () => {
  const missing = selectMissingLabels([pool, racks, pool], { hashedNames: false });
  assert.deepEqual(missing, [
    { policy: 'edge', keys: ['pool'] },
    { policy: 'metal', keys: ['rack'] },
  ]);
  assert.equal(
    describeMissingLabels(missing)[1],
    'policy metal uses labels that the trace does not have: rack; record them with --label=rack',
  );
});
