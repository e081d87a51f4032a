// Parity with kube-controller-manager: two real control planes with the same nodes, one with the node lifecycle and taint
// eviction controllers of kube-controller-manager, the other with nlc and the same flags. The same steps run on both; after
// each step both must be in the same state, except for the intended differences.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { compareWithMeant, type Difference, differencesOf, newDifferences } from './parity/differences.ts';
import { meantDifferences } from './parity/meant-differences.ts';
import { type Pace, shortestSilenceMs } from './parity/pace.ts';
import { type StepOutcome, Side } from './parity/side.ts';
import { graceMs, startupGraceMs, story } from './parity/story.ts';

const laterThanUpstreamMsMax = 2_000;
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
const nlcFlags = [
  // kube-controller-manager has no storm guard: it acts at once (0011-path-failure-hold.md).
  '--control-plane-path-failure-hold=0s',
  '--metrics-bind-address=0',
  '--health-probe-bind-address=0',
  '--log-format=json',
];

const binaries = findControlPlane();
const skip = 'missing' in binaries ? binaries.missing : false;

describe('parity with kube-controller-manager', { skip }, () => {
  let upstream: Side;
  let nlc: Side;
  let known: readonly Difference[] = [];
  let isBroken = false;

  before(async () => {
    [upstream, nlc] = await Promise.all([Side.start('upstream', flags), Side.start('nlc', [...flags, ...nlcFlags])]);
  });
  after(async () => {
    await Promise.all([upstream?.stop(), nlc?.stop()]);
  });

  for (const step of story) {
    test(step.name, { timeout: 60_000 }, async (t) => {
      if (isBroken) return t.skip('an earlier step failed');
      isBroken = true;
      const [expected, actual] = await Promise.all([upstream.play(step), nlc.play(step)]);
      isBroken = false;
      const differences = differencesOf(expected.seen, actual.seen);
      const news = newDifferences(differences, known);
      known = differences;
      assert.ok(
        expected.isDone,
        `kube-controller-manager did not complete the step: ${JSON.stringify(expected.seen, null, 2)}`,
      );
      const meant = meantDifferences.filter((each) => each.step === step.name);
      assert.deepEqual(compareWithMeant(news, meant), { unexpected: [], missing: [] });
      for (const [who, outcome] of Object.entries({ upstream: expected, nlc: actual }))
        assert.ok(shortestSilenceMs(outcome) >= graceMs, `${who}: Unknown after ${shortestSilenceMs(outcome)} ms`);
      for (const pace of step.paces ?? []) keepsPace(t, pace, { expected, actual });
    });
  }
});

function keepsPace(
  t: TestContext,
  { what, atLeastMs, tookMs }: Pace,
  { expected, actual }: { readonly expected: StepOutcome; readonly actual: StepOutcome },
): void {
  const [upstreamMs, nlcMs] = [tookMs(expected), tookMs(actual)];
  t.diagnostic(
    `${what}: kube-controller-manager ${(upstreamMs / 1_000).toFixed(2)} s, nlc ${(nlcMs / 1_000).toFixed(2)} s`,
  );
  assert.ok(upstreamMs >= atLeastMs, `${what}: kube-controller-manager was too early`);
  assert.ok(nlcMs >= atLeastMs, `${what}: nlc was too early`);
  assert.ok(nlcMs <= upstreamMs + laterThanUpstreamMsMax, `${what}: nlc was late`);
}

test('the intended differences name existing steps and decision records', () => {
  const steps = new Set(story.map(({ name }) => name));
  for (const { step, record } of meantDifferences) {
    assert.ok(steps.has(step), step);
    assert.ok(existsSync(join(decisionRecords, record)), record);
  }
});
