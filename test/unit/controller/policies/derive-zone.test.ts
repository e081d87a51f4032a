import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultControllerOptions } from '../../../../src/controller/model/options.ts';
import type { NodePolicy, PolicyZones } from '../../../../src/controller/model/policy.ts';
import { deriveZone, deriveZoneOptions } from '../../../../src/controller/policies/derive-zone.ts';
import { aPolicy } from '../../../support/builders.ts';

const labels = {
  'topology.kubernetes.io/region': 'eu',
  'topology.kubernetes.io/zone': 'a',
  'example.com/rack': 'r12',
  'example.com/cell': 'c3',
};

function edge(zones: Partial<PolicyZones> | undefined): NodePolicy {
  const whole = zones && { failureDomain: undefined, settings: {}, ...zones };
  return aPolicy({ name: 'edge', zones: whole });
}

function zoneIn(policy: NodePolicy): string {
  return deriveZone(labels, { kind: 'policy', policy });
}

test('a node is in the zone of its region and zone labels, unless its policy has zones of its own', () => {
  assert.equal(deriveZone(labels, { kind: 'default' }), 'eu/a');
  assert.equal(deriveZone(labels, { kind: 'conflict', policies: [edge({}), edge({})] }), 'eu/a');
  assert.equal(zoneIn(edge(undefined)), 'eu/a');
  assert.equal(zoneIn(edge({})), 'edge:eu/a');
});

test('the labels of the failure domain form the zone, in their order; a missing one is empty', () => {
  assert.equal(zoneIn(edge({ failureDomain: ['example.com/rack'] })), 'edge:r12');
  assert.equal(zoneIn(edge({ failureDomain: ['example.com/cell', 'example.com/rack'] })), 'edge:c3/r12');
  assert.equal(zoneIn(edge({ failureDomain: ['example.com/none', 'example.com/rack'] })), 'edge:/r12');
  assert.equal(zoneIn(edge({ failureDomain: ['constructor', 'example.com/rack'] })), 'edge:/r12');
});

test('with an outer level the name begins with the values of the outer labels', () => {
  const racks = { failureDomain: ['example.com/rack'], outerFailureDomain: ['topology.kubernetes.io/zone'] };
  assert.equal(zoneIn(edge(racks)), 'edge:a:r12');
  assert.equal(
    zoneIn(edge({ ...racks, outerFailureDomain: ['example.com/none', 'example.com/cell'] })),
    'edge:/c3:r12',
  );
});

test('a zone of a policy has what the policy sets, every other zone the options of the controller', () => {
  const settings = { nodeEvictionRate: 5, unhealthyZoneThreshold: 0.9 };
  const options = { ...defaultControllerOptions, policies: [edge({ settings })] };
  assert.equal(deriveZoneOptions('eu/a', options), options);
  assert.equal(deriveZoneOptions('', options), options);
  const inForce = deriveZoneOptions('edge:r12', options);
  assert.deepEqual([inForce.nodeEvictionRate, inForce.unhealthyZoneThreshold], [5, 0.9]);
  assert.equal(inForce.secondaryNodeEvictionRate, options.secondaryNodeEvictionRate);
  assert.equal(deriveZoneOptions('edge:a:*', options).nodeEvictionRate, 5, 'an outer zone has the same');
  assert.equal(deriveZoneOptions('gone:r12', options).nodeEvictionRate, options.nodeEvictionRate);
});
