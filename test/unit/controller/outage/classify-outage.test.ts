import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { classifyOutage, classifyOutages, failedTogether } from '../../../../src/controller/outage/classify-outage.ts';
import {
  type CountedHeartbeat,
  type Heartbeats,
  buildHeartbeats,
} from '../../../../src/controller/outage/build-heartbeats.ts';

const windowMs = 12_000;

type Times = readonly number[];

/** Control-plane nodes are in a zone of their own, which does not count. */
function heartbeatsOf(zones: Readonly<Record<string, Times>>, controlPlane: Times = []): Heartbeats {
  const toCounted = (zone: string, isControlPlane: boolean) => (atMs: number) => {
    return { zone, atMs, nextByMs: atMs + windowMs, isControlPlane };
  };
  const workers = Object.entries(zones).flatMap(([zone, all]) => all.map(toCounted(zone, false)));
  const { controlPlane: sorted } = buildHeartbeats(controlPlane.map(toCounted('', true)));
  return { ...buildHeartbeats(workers), controlPlane: sorted };
}

const times = (count: number, atMs: number): readonly number[] => Array.from({ length: count }, () => atMs);

function outageOf(zones: Readonly<Record<string, readonly number[]>>, zone = 'a', atMs = 0): string {
  return classifyOutage(heartbeatsOf(zones), { zone, heartbeatAtMs: atMs, windowMs }).outage;
}

/** Renewed since. */
const later = Infinity;

test('one or two nodes are a NodeFailure however small the cluster', () => {
  assert.equal(outageOf({ a: [0, later, later] }), 'NodeFailure');
  assert.equal(outageOf({ a: [0, 0] }), 'NodeFailure');
  assert.equal(outageOf({ a: [0], b: [0] }), 'NodeFailure');
});

test('most of one zone of several is a ZoneFailure, and less is not', () => {
  assert.equal(outageOf({ a: times(10, 0), b: times(10, later), c: times(10, later) }), 'ZoneFailure');
  assert.equal(outageOf({ a: [...times(6, 0), ...times(4, later)], b: times(10, later) }), 'ZoneFailure');
  assert.equal(outageOf({ a: [...times(5, 0), ...times(5, later)], b: times(10, later) }), 'NodeFailure');
  const actual = outageOf({ a: times(90, 0), b: times(10, later) });
  assert.equal(actual, 'ZoneFailure', 'even where it is most of the cluster');
});

test('most nodes of several zones together are a ControlPlanePathFailure', () => {
  assert.equal(outageOf({ a: times(3, 0), b: times(3, 0) }), 'ControlPlanePathFailure');
  const actual = outageOf({ a: times(10, 0), b: [...times(8, 5_000), ...times(2, later)], c: times(10, 11_000) });
  assert.equal(actual, 'ControlPlanePathFailure');
  assert.equal(outageOf({ a: times(10, 0), b: times(10, 0), c: times(20, later) }), 'ZoneFailure', 'half are not most');
});

test('in a cluster of one zone the more cautious class is used', () => {
  assert.equal(outageOf({ a: times(5, 0) }), 'ControlPlanePathFailure');
  assert.equal(outageOf({ a: [...times(5, 0), ...times(5, later)] }), 'NodeFailure');
});

test('a node that was silent long before counts neither as silent nor as healthy', () => {
  assert.equal(outageOf({ a: [...times(50, -100_000), 0, later] }), 'NodeFailure');
  assert.equal(outageOf({ a: [...times(50, -100_000), 0, 0, 0], b: [...times(50, -100_000), later] }), 'ZoneFailure');
});

test('nodes with different intervals failed together if each stopped before its next heartbeat was due', () => {
  const fast = { heartbeatAtMs: 60_000, windowMs: 12_000 };
  const slow = (heartbeatAtMs: number) => ({ heartbeatAtMs, windowMs: 72_000 });
  for (const [heartbeatAtMs, expected] of [
    [-12_001, false],
    [-12_000, true],
    [72_000, true],
    [72_001, false],
  ] as const) {
    assert.equal(failedTogether(fast, slow(heartbeatAtMs)), expected);
    assert.equal(failedTogether(slow(heartbeatAtMs), fast), expected);
  }
});

test('the result contains the arithmetic', () => {
  const heartbeats = heartbeatsOf({ a: times(3, 0), b: times(4, 0), c: [later] }, [0, later]);
  assert.deepEqual(classifyOutage(heartbeats, { zone: 'b', heartbeatAtMs: 0, windowMs }), {
    outage: 'ControlPlanePathFailure',
    zone: 'b',
    together: 7,
    of: 8,
    zonesStruck: 2,
    shareMin: 0.6,
    zones: 3,
    windowMs,
    controlPlane: { together: 1, of: 2, evidence: 'partly-silent' },
  });
});

type Evidence = ReturnType<typeof classifyOutage>['controlPlane']['evidence'];

const evidenceCases: readonly (readonly [
  title: string,
  controlPlane: Times,
  together: number,
  of: number,
  evidence: Evidence,
])[] = [
  ['no control-plane node is visible', [], 0, 0, 'none'],
  ['all control-plane nodes fall silent with the others', [-8_000, 0, 11_000], 3, 3, 'silent'],
  ['one of three falls silent with the others', [0, later, later], 1, 3, 'partly-silent'],
  ['all keep renewing', [later, later, later], 0, 3, 'renewing'],
  ['one has been silent for long, the rest falls silent with the others', [-100_000, 0, 0], 2, 2, 'silent'],
  ['all have been silent for long, which says nothing of this moment', [-100_000, -100_000], 0, 0, 'none'],
];

for (const [title, controlPlane, together, of, evidence] of evidenceCases) {
  test(`evidence: ${title}`, () => {
    const heartbeats = heartbeatsOf({ a: times(6, 0) }, controlPlane);
    const found = classifyOutage(heartbeats, { zone: 'a', heartbeatAtMs: 0, windowMs }).controlPlane;
    assert.deepEqual(found, { together, of, evidence });
  });
}

test('one more healthy node never makes an outage greater', () => {
  const rank = ['NodeFailure', 'ZoneFailure', 'ControlPlanePathFailure'];
  const aZone = fc.array(fc.constantFrom(0, 6_000, later), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(aZone, { minLength: 2, maxLength: 4 }), fc.nat(3), (zones, where) => {
      const names = ['a', 'b', 'c', 'd'];
      const before = Object.fromEntries(zones.map((zone, i) => [names[i], [...(i === 0 ? [0] : []), ...zone]]));
      const grown = names[where % zones.length]!;
      const after = { ...before, [grown]: [...(before[grown] ?? []), later] };
      assert.ok(rank.indexOf(outageOf(after)) <= rank.indexOf(outageOf(before)));
    }),
  );
});

/** As the arithmetic is defined: each zone is counted again for each silence. */
function countPlainly(counted: readonly CountedHeartbeat[], { zone, heartbeatAtMs: atMs, windowMs: forMs }: Last) {
  const zones = [...Map.groupBy(counted, (each) => each.zone)].map(([name, ofZone]) => {
    const left = ofZone.filter(({ nextByMs }) => nextByMs >= atMs);
    return { name, together: left.filter((each) => each.atMs <= atMs + forMs).length, of: left.length };
  });
  const known = zones.filter(({ of }) => of > 0);
  const own = known.find(({ name }) => name === zone) ?? { together: 1, of: 1 };
  const zonesStruck = known.filter(({ together, of }) => together >= of * 0.6).length;
  return { own: { together: own.together, of: own.of }, zonesStruck, zones: known.length };
}

interface Last {
  readonly zone: string;
  readonly heartbeatAtMs: number;
  readonly windowMs: number;
}

test('many silences at once are counted as each by itself', () => {
  const aTime = fc.integer({ min: 0, max: 40 });
  const aHeartbeat = fc.record({ zone: fc.constantFrom('a', 'b', 'c', 'd'), heartbeatAtMs: aTime, windowMs: aTime });
  const anyRenews = fc.tuple(aHeartbeat, fc.boolean());
  fc.assert(
    fc.property(fc.array(anyRenews, { maxLength: 30 }), fc.array(aHeartbeat, { maxLength: 12 }), (nodes, silences) => {
      const counted = nodes.map(([{ zone, heartbeatAtMs: atMs, windowMs: forMs }, renews]) => {
        return renews
          ? { zone, atMs: Infinity, nextByMs: Infinity, isControlPlane: false }
          : { zone, atMs, nextByMs: atMs + forMs, isControlPlane: false };
      });
      const heartbeats = buildHeartbeats(counted);
      for (const [{ last }, why] of classifyOutages(
        heartbeats,
        silences.map((last) => ({ last })),
      )) {
        const { own, ...plain } = countPlainly(counted, last);
        assert.deepEqual({ zonesStruck: why.zonesStruck, zones: why.zones }, plain);
        if (why.outage !== 'ControlPlanePathFailure') assert.deepEqual({ together: why.together, of: why.of }, own);
        assert.deepEqual(classifyOutage(heartbeats, last), why);
      }
    }),
  );
});

/** Milliseconds for 1,500 silences of 4,500 nodes; the shortest of several runs. */
function costMs(zones: number): number {
  const counted = Array.from({ length: 4_500 }, (_, i) => {
    return { zone: `z${i % zones}`, atMs: i % 4_001, nextByMs: 12_000 + (i % 4_001), isControlPlane: false };
  });
  const heartbeats = buildHeartbeats(counted);
  const silences = counted.slice(0, 1_500).map(({ zone, atMs }, i) => {
    return { last: { zone, heartbeatAtMs: atMs, windowMs: 12_000 + (i % 97) } };
  });
  const runs = Array.from({ length: 7 }, () => {
    const startedMs = performance.now();
    assert.equal(classifyOutages(heartbeats, silences)[0]?.[1].zonesStruck, zones);
    return performance.now() - startedMs;
  });
  return Math.min(...runs);
}

test('300 zones cost about as much as 10', () => {
  const [few, many] = [costMs(10), costMs(300)];
  assert.ok(many < 5 * few + 5, `${many} ms against ${few} ms`);
});
