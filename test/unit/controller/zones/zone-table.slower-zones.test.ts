import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultControllerOptions } from '../../../../src/controller/model/options.ts';
import { planRates } from '../../../../src/controller/zones/plan-rates.ts';
import { ZoneTable } from '../../../../src/controller/zones/zone-table.ts';
import { RecordingMeter } from '../../../support/fakes.ts';

interface Tally {
  readonly ready: number;
  readonly unready: number;
  readonly lost: number;
}

const aTally = fc
  .record({ ready: fc.nat(6), unready: fc.nat(4), lost: fc.nat(6) })
  .map((tally) => ({ ...tally, lost: Math.min(tally.lost, tally.ready) }));
const zoneOf = (place: number): string => `r\0z${place}`;
const secondary = { ...defaultControllerOptions, largeClusterSizeThreshold: 6 };

/** The rate of the first zone, by the plan of all zones. */
function rateOfFirst(tallies: readonly Tally[]): number {
  const counts = tallies.map(({ ready, unready, lost }, place): [string, Pick<Tally, 'ready' | 'unready'>] => [
    zoneOf(place),
    { ready: ready - lost, unready: unready + lost },
  ]);
  const { zones } = planRates(new Map(counts), () => secondary);
  return zones.find(({ zone }) => zone === zoneOf(0))?.ratePerSecond ?? NaN;
}

function aTable(tallies: readonly Tally[]): ZoneTable {
  const table = new ZoneTable(() => secondary, new RecordingMeter());
  for (const [place, tally] of tallies.entries())
    for (const standing of ['ready', 'unready'] as const)
      for (let i = 0; i < tally[standing]; i += 1) table.place(`${standing}-${place}-${i}`, zoneOf(place), standing);
  return table;
}

test('a zone is slower without the lost nodes if its rate is, in a plan in which all of them, or all but one, are unready', () => {
  fc.assert(
    fc.property(fc.array(aTally, { minLength: 1, maxLength: 4 }), (tallies) => {
      const [first, ...others] = tallies;
      fc.pre(first !== undefined && first.unready > 0);
      const alone = rateOfFirst(tallies.map((tally) => ({ ...tally, lost: 0 })));
      const all = rateOfFirst(tallies);
      const allButOne =
        first.lost === 0 ? all : rateOfFirst([{ ...first, lost: Math.min(first.lost, first.ready - 1) }, ...others]);
      const lost = new Map(tallies.map((tally, place) => [zoneOf(place), tally.lost]));
      const isSlower = aTable(tallies).isSlowerWithout('unready-0-0', (zone) => lost.get(zone) ?? 0);
      assert.equal(isSlower, Math.min(all, allButOne) < alone);
    }),
  );
});
