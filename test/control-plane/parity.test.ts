// Side by side with kube-controller-manager: two real control planes with the same nodes, on one the reference with its
// node lifecycle and taint eviction controllers, on the other ours with the same flags. The same things happen on both;
// after each, both must look the same, but for the differences that are meant.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { findControlPlane } from './binaries.ts';
import { compareWithMeant, type Difference, differencesOf, newDifferences } from './parity/differences.ts';
import { meantDifferences } from './parity/meant-differences.ts';
import { type Pace, shortestSilenceMs } from './parity/pace.ts';
import { type Outcome, Side } from './parity/side.ts';
import { graceMs, startupGraceMs, story } from './parity/story.ts';

const laterThanReferenceMsMax = 2_000;
const decisionRecords = join(import.meta.dirname, '..', '..', 'docs', 'decisions');

const flags = [
  '--controllers=node-lifecycle-controller,taint-eviction-controller',
  `--node-monitor-grace-period=${graceMs}ms`,
  `--node-startup-grace-period=${startupGraceMs}ms`,
  '--node-monitor-period=1s',
  '--node-eviction-rate=10',
  '--kube-api-qps=500',
  '--kube-api-burst=500',
  '--leader-elect=false',
];
const ourFlags = [
  // The reference has no storm guard: it acts at once (0011-storm-guard.md).
  '--control-plane-path-failure-hold=0s',
  '--metrics-bind-address=0',
  '--health-probe-bind-address=0',
  '--log-format=json',
];

const binaries = findControlPlane();
const skip = 'missing' in binaries ? binaries.missing : false;

describe('side by side with kube-controller-manager', { skip }, () => {
  let reference: Side;
  let ours: Side;
  let known: readonly Difference[] = [];
  let isBroken = false;

  before(async () => {
    [reference, ours] = await Promise.all([
      Side.start('reference', flags),
      Side.start('ours', [...flags, ...ourFlags]),
    ]);
  });
  after(async () => {
    await Promise.all([reference?.stop(), ours?.stop()]);
  });

  for (const step of story) {
    test(step.name, { timeout: 60_000 }, async (t) => {
      if (isBroken) return t.skip('an earlier step broke off');
      isBroken = true;
      const [theirs, own] = await Promise.all([reference.play(step), ours.play(step)]);
      isBroken = false;
      const differences = differencesOf(theirs.seen, own.seen);
      const news = newDifferences(differences, known);
      known = differences;
      assert.ok(theirs.isDone, `the reference did not get there: ${JSON.stringify(theirs.seen, null, 2)}`);
      const meant = meantDifferences.filter((each) => each.step === step.name);
      assert.deepEqual(compareWithMeant(news, meant), { unexpected: [], missing: [] });
      for (const [who, outcome] of Object.entries({ reference: theirs, ours: own }))
        assert.ok(shortestSilenceMs(outcome) >= graceMs, `${who}: Unknown after ${shortestSilenceMs(outcome)} ms`);
      for (const pace of step.paces ?? []) keepsPace(t, pace, { theirs, own });
    });
  }
});

function keepsPace(
  t: TestContext,
  { what, atLeastMs, tookMs }: Pace,
  { theirs, own }: { readonly theirs: Outcome; readonly own: Outcome },
): void {
  const [referenceMs, oursMs] = [tookMs(theirs), tookMs(own)];
  t.diagnostic(`${what}: the reference ${(referenceMs / 1_000).toFixed(2)} s, ours ${(oursMs / 1_000).toFixed(2)} s`);
  assert.ok(referenceMs >= atLeastMs, `${what}: the reference came too early`);
  assert.ok(oursMs >= atLeastMs, `${what}: ours came too early`);
  assert.ok(oursMs <= referenceMs + laterThanReferenceMsMax, `${what}: ours came late`);
}

test('differences that are meant belong to steps and records that exist', () => {
  const steps = new Set(story.map(({ name }) => name));
  for (const { step, record } of meantDifferences) {
    assert.ok(steps.has(step), step);
    assert.ok(existsSync(join(decisionRecords, record)), record);
  }
});
