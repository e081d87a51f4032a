import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultControllerOptions } from '../../../src/controller/model/options.ts';
import { countedZoneOf, highestRateOf, hostname, levelsOf, policyOf, ratesOf } from '../../simulator/policy-zones.ts';
import { aNode, aPolicy } from '../../support/builders.ts';

const selector = [{ key: hostname, operator: 'In', values: ['n1'] }] as const;
const zones = { failureDomain: ['rack'], settings: { nodeEvictionRate: 2 } };
const racks = aPolicy({ name: 'metal', selector, zones });
const labels = { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'a', rack: 'r1' };

test('a node counts in the zone of its policy, and else in that of its labels', () => {
  assert.equal(countedZoneOf(aNode('n1', { metadata: { labels } }), [racks]), 'metal:r1');
  assert.equal(countedZoneOf(aNode('n1', { metadata: { labels: {} } }), [racks]), 'metal:');
  assert.equal(countedZoneOf(aNode('n2', { metadata: { labels } }), [racks]), 'r/a');
  const ofZones = { ...racks, zones: { failureDomain: undefined, settings: {} } };
  assert.equal(countedZoneOf(aNode('n1', { metadata: { labels } }), [ofZones]), 'metal:r/a');
});

test('a node of a policy with two levels counts in both, and both have the rate of the policy', () => {
  const halls = { ...racks, zones: { ...zones, outerFailureDomain: ['topology.kubernetes.io/zone'] } };
  const zone = countedZoneOf(aNode('n1', { metadata: { labels } }), [halls]);
  assert.deepEqual(levelsOf(zone), ['metal:a:r1', 'metal:a:*']);
  const unlabelled = countedZoneOf(aNode('n1', { metadata: { labels: {} } }), [halls]);
  assert.deepEqual(levelsOf(unlabelled), ['metal::', 'metal::*']);
  const settings = [{ fromMs: 0, options: { ...defaultControllerOptions, policies: [halls] } }];
  assert.deepEqual(
    levelsOf(zone).map((level) => highestRateOf(level, settings)),
    [2, 2],
  );
  for (const single of ['r/a', '', 'metal:r1', 'metal:r/a']) assert.deepEqual(levelsOf(single), [single]);
});

test('the rate of a zone is that of its policy, from when the policy is in force', () => {
  const settings = [
    { fromMs: 0, options: { ...defaultControllerOptions, nodeEvictionRate: 0.1 } },
    { fromMs: 5_000, options: { ...defaultControllerOptions, nodeEvictionRate: 0.1, policies: [racks] } },
  ];
  assert.deepEqual(ratesOf('metal:r1', settings), [
    { fromMs: 0, perSecond: 0.1 },
    { fromMs: 5_000, perSecond: 2 },
  ]);
  assert.deepEqual([highestRateOf('metal:r1', settings), highestRateOf('r/a', settings)], [2, 0.1]);
});

test('of the policies that claim a node the one of the highest priority applies, then the one with more requirements', () => {
  const byPool = { key: 'pool', operator: 'In', values: ['p'] } as const;
  const byName = { key: hostname, operator: 'In', values: ['n1'] } as const;
  const broad = aPolicy({ name: 'broad', selector: [byPool] });
  const narrow = aPolicy({ name: 'narrow', selector: [byPool, byName] });
  const first = aPolicy({ name: 'first', priority: 1, selector: [byPool] });
  const equal = aPolicy({ name: 'equal', selector: [byName] });
  const node = { name: 'n1', labels: { pool: 'p' } };
  assert.equal(policyOf(node, [broad, narrow])?.name, 'narrow');
  assert.equal(policyOf(node, [narrow, first])?.name, 'first');
  assert.equal(policyOf(node, [broad, equal]), undefined);
  assert.equal(policyOf({ name: 'n2', labels: { pool: 'p' } }, [broad, equal])?.name, 'broad');
  assert.equal(policyOf({ name: 'n2' }, [broad, narrow, first, equal]), undefined);
});
