import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildPolicyZone,
  isOuterZone,
  outerZoneOf,
  policyOfZone,
  zoneLevels,
} from '../../../../src/machinery/api/zone.ts';

test('a zone of two levels has the outer zone of its outer values', () => {
  const zone = buildPolicyZone('metal', ['eu/a', 'r12']);
  assert.equal(zone, 'metal:eu/a:r12');
  assert.equal(outerZoneOf(zone), 'metal:eu/a:*');
  assert.deepEqual(zoneLevels(zone), [zone, 'metal:eu/a:*']);
  assert.equal(policyOfZone(zone), 'metal');
});

test('values may be empty', () => {
  assert.equal(outerZoneOf(buildPolicyZone('metal', ['', ''])), 'metal::*');
});

test('a zone of one level and an outer zone have no outer zone', () => {
  for (const zone of ['', 'eu/a', buildPolicyZone('metal', ['r12']), 'metal:eu/a:*'])
    assert.deepEqual([outerZoneOf(zone), zoneLevels(zone)], [undefined, [zone]], zone);
  assert.equal(policyOfZone('eu/a'), undefined);
  assert.deepEqual(['metal:eu/a:*', 'metal:eu/a:r12', 'metal:*x'].map(isOuterZone), [true, false, false]);
});
