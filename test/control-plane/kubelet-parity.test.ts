// Parity with a real kubelet: two real control planes, one with the kubelet of Kubernetes and a fake container runtime, the
// other with nlc hollow-nodes. The same steps run on both; in each step both must send the same requests in the same order,
// except for the intended differences.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { compareLines, type Difference } from './kubelet-parity/compare.ts';
import { KubeletSide, type StepOutcome, type Step } from './kubelet-parity/kubelet-side.ts';
import { recordsEvents } from './kubelet-parity/kubelets.ts';
import { linesOf, type StepLines } from './kubelet-parity/lines.ts';
import { describes, missingOf, unexpectedOf } from './kubelet-parity/meant.ts';
import { meantDifferences } from './kubelet-parity/meant-differences.ts';
import { Names } from './kubelet-parity/names.ts';
import { isRenewal, lineOf } from './kubelet-parity/requests.ts';
import { story } from './kubelet-parity/story.ts';
import { tableOf } from './kubelet-parity/table.ts';

const stepTimeoutMs = 120_000;
/** A quarter of the lease duration of 40 s; the real kubelet adds up to 4 %, a loaded machine some more. */
const renewalMs = { min: 9_900, max: 11_500 };
const decisionRecords = join(import.meta.dirname, '..', '..', 'docs', 'decisions');

const binaries = findControlPlane();
const skip = 'missing' in binaries ? binaries.missing : false;

describe('parity with a real kubelet', { skip }, () => {
  let upstream: KubeletSide;
  let nlc: KubeletSide;
  const patched = { upstream: new Set<string>(), nlc: new Set<string>() };
  const found: { readonly step: string; readonly difference: Difference }[] = [];
  let playedAll = true;

  before(async () => {
    [upstream, nlc] = await Promise.all([KubeletSide.start('upstream'), KubeletSide.start('nlc')]);
  });
  after(async () => {
    await Promise.all([upstream?.stop(), nlc?.stop()]);
  });

  test('nlc hollow-nodes has all required flags', (t) => {
    if (!recordsEvents) t.diagnostic('events are not compared: /dev/kmsg is not readable');
    assert.deepEqual(nlc.kubelet.lackingFlags, []);
  });

  for (const step of story) {
    test(step.name, { timeout: stepTimeoutMs }, async (t) => {
      playedAll = false;
      const [expected, actual] = await Promise.all([upstream.play(step), nlc.play(step)]);
      playedAll = true;
      t.diagnostic(`real kubelet ${seconds(expected)}, nlc ${seconds(actual)}`);
      const rows = compareLines(stepLines(upstream, expected, patched.upstream), stepLines(nlc, actual, patched.nlc));
      const differences = [
        ...[...rows.values()].flat().flatMap((row) => row.differences),
        ...waysApart(expected, actual),
      ];
      found.push(...differences.map((difference) => ({ step: step.id, difference })));
      const expectedLines = expected.requests.map(lineOf).join('\n');
      assert.ok(expected.isDone, `the real kubelet did not complete the step: ${expected.complaint ?? expectedLines}`);
      checkOrder(step, 'upstream', expected);
      checkTime(step, 'upstream', expected);

      const unexpected = unexpectedOf(step.id, differences, meantDifferences);
      const missing = missingOf(step.id, differences, meantDifferences);
      if (unexpected.length + missing.length > 0)
        assert.fail(
          reportOf(
            step,
            tableOf(rows, (each) => unexpected.includes(each)),
            { unexpected, missing },
          ),
        );
      checkOrder(step, 'nlc', actual);
      checkTime(step, 'nlc', actual);
    });
  }

  test('every intended difference occurred', () => {
    assert.ok(playedAll, 'a step did not complete');
    const idle = meantDifferences.filter(
      (entry) => entry.sometimes !== true && !found.some(({ step, difference }) => describes(entry, step, difference)),
    );
    assert.deepEqual(idle, []);
  });

  test('leases are renewed every 10 s', (t) => {
    for (const side of [upstream, nlc]) {
      const gaps = renewalGapsMs(side);
      t.diagnostic(`${side.which}: ${gaps.map((ms) => (ms / 1_000).toFixed(2)).join(' ')}`);
      assert.ok(gaps.length >= 3, `${side.which}: ${gaps.length} renewals in a row`);
      for (const ms of gaps) assert.ok(ms >= renewalMs.min && ms <= renewalMs.max, `${side.which}: after ${ms} ms`);
    }
  });
});

test('the intended differences name existing steps and decision records', () => {
  const steps = new Set(story.map(({ id }) => id));
  for (const entry of meantDifferences) {
    for (const step of entry.steps ?? []) assert.ok(steps.has(step), step);
    assert.ok(existsSync(join(decisionRecords, entry.record)), entry.record);
  }
});

function stepLines(side: KubeletSide, { requests }: StepOutcome, patched: Set<string>): StepLines {
  return linesOf(requests, new Names(side.requests(), side.begins), patched);
}

/** Only one side completed the step. */
function waysApart(expected: StepOutcome, actual: StepOutcome): readonly Difference[] {
  const [upstream, nlc] = [expected, actual].map(
    ({ isDone, complaint }) => complaint ?? (isDone ? 'done' : 'not done'),
  );
  return upstream === nlc ? [] : [{ object: 'the step', action: 'ends', at: 'result', upstream, nlc }];
}

function reportOf(
  step: Step,
  table: string,
  { unexpected, missing }: { readonly unexpected: readonly Difference[]; readonly missing: readonly object[] },
): string {
  const ways = unexpected.filter(({ object }) => object === 'the step').map(({ nlc }) => `nlc: ${String(nlc)}`);
  const gone = missing.map((entry) => `intended, but did not occur: ${JSON.stringify(entry)}`);
  return [`${step.name}: ${unexpected.length} unexpected differences`, ...ways, ...gone, table].join('\n');
}

/** Checks the order of requests about different objects. */
function checkOrder({ order = [] }: Step, who: string, { requests }: StepOutcome): void {
  const lines = requests.map(lineOf);
  for (const [earlier, later] of order) {
    const [first, second] = [earlier, later].map((start) => lines.findIndex((line) => line.startsWith(start)));
    const isOrdered = first! >= 0 && second! >= 0 && first! < second!;
    assert.ok(isOrdered, `${who}: '${earlier}' before '${later}' in\n${lines.join('\n')}`);
  }
}

function checkTime({ notBeforeMs = 0 }: Step, which: string, { doneMs = 0 }: StepOutcome): void {
  assert.ok(doneMs >= notBeforeMs, `${which}: the result was reached after ${Math.round(doneMs)} ms`);
}

/** Intervals between consecutive regular renewals of one lease. */
function renewalGapsMs(side: KubeletSide): readonly number[] {
  const leases = side.requests().filter(({ resource }) => resource === 'leases');
  return leases.flatMap((request, place) => {
    const [before, earlier] = [leases[place - 1], leases[place - 2]];
    const isRegular = [request, before, earlier].every((each) => each !== undefined && isRenewal(each));
    return isRegular ? [request.atMs - before!.atMs] : [];
  });
}

/** When the result was reached, and when nothing more was sent. */
function seconds({ doneMs = Number.NaN, tookMs }: StepOutcome): string {
  return `${(doneMs / 1_000).toFixed(1)} s (${(tookMs / 1_000).toFixed(1)} s)`;
}
