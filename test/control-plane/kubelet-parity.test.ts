// Side by side with a real kubelet: two real control planes, on one the kubelet of Kubernetes over a runtime that only
// pretends, on the other ours. The same things happen to both; after each, both must have asked the API server for the same,
// in the same order, but for the differences that are meant.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findControlPlane } from './binaries.ts';
import { compareTold, type Difference } from './kubelet-parity/compare.ts';
import { KubeletSide, type Outcome, type Step } from './kubelet-parity/kubelet-side.ts';
import { tellsEvents } from './kubelet-parity/kubelets.ts';
import { linesOf, type Told } from './kubelet-parity/lines.ts';
import { describes, missingOf, unexpectedOf } from './kubelet-parity/meant.ts';
import { meantDifferences } from './kubelet-parity/meant-differences.ts';
import { Names } from './kubelet-parity/names.ts';
import { isRenewal, lineOf } from './kubelet-parity/requests.ts';
import { story } from './kubelet-parity/story.ts';
import { tableOf } from './kubelet-parity/table.ts';

const stepTimeoutMs = 120_000;
/** A quarter of the 40 s that a lease lasts; the reference adds up to 4 %, a busy machine some more. */
const renewalMs = { min: 9_900, max: 11_500 };
const decisionRecords = join(import.meta.dirname, '..', '..', 'docs', 'decisions');

const binaries = findControlPlane();
const skip = 'missing' in binaries ? binaries.missing : false;

describe('side by side with a real kubelet', { skip }, () => {
  let reference: KubeletSide;
  let ours: KubeletSide;
  const patched = { reference: new Set<string>(), ours: new Set<string>() };
  const found: { readonly step: string; readonly difference: Difference }[] = [];
  let playedAll = true;

  before(async () => {
    [reference, ours] = await Promise.all([KubeletSide.start('reference'), KubeletSide.start('ours')]);
  });
  after(async () => {
    await Promise.all([reference?.stop(), ours?.stop()]);
  });

  test('ours can be given all that the story needs', (t) => {
    if (!tellsEvents) t.diagnostic('events are not compared: /dev/kmsg cannot be read');
    assert.deepEqual(ours.kubelet.lackingFlags, []);
  });

  for (const step of story) {
    test(step.name, { timeout: stepTimeoutMs }, async (t) => {
      playedAll = false;
      const [theirs, own] = await Promise.all([reference.play(step), ours.play(step)]);
      playedAll = true;
      t.diagnostic(`the reference ${seconds(theirs)}, ours ${seconds(own)}`);
      const rows = compareTold(told(reference, theirs, patched.reference), told(ours, own, patched.ours));
      const differences = [...[...rows.values()].flat().flatMap((row) => row.differences), ...waysApart(theirs, own)];
      found.push(...differences.map((difference) => ({ step: step.id, difference })));
      const theirLines = theirs.requests.map(lineOf).join('\n');
      assert.ok(theirs.isDone, `the reference did not get there: ${theirs.complaint ?? theirLines}`);
      checkOrder(step, 'reference', theirs);

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
      checkOrder(step, 'ours', own);
    });
  }

  test('every entry of the meant differences happened somewhere', () => {
    assert.ok(playedAll, 'the story broke off');
    const idle = meantDifferences.filter(
      (entry) => entry.sometimes !== true && !found.some(({ step, difference }) => describes(entry, step, difference)),
    );
    assert.deepEqual(idle, []);
  });

  test('leases are renewed every 10 s', (t) => {
    for (const side of [reference, ours]) {
      const gaps = renewalGapsMs(side);
      t.diagnostic(`${side.which}: ${gaps.map((ms) => (ms / 1_000).toFixed(2)).join(' ')}`);
      assert.ok(gaps.length >= 3, `${side.which}: ${gaps.length} renewals in a row`);
      for (const ms of gaps) assert.ok(ms >= renewalMs.min && ms <= renewalMs.max, `${side.which}: after ${ms} ms`);
    }
  });
});

test('differences that are meant belong to steps and records that exist', () => {
  const steps = new Set(story.map(({ id }) => id));
  for (const entry of meantDifferences) {
    for (const step of entry.steps ?? []) assert.ok(steps.has(step), step);
    assert.ok(existsSync(join(decisionRecords, entry.record)), entry.record);
  }
});

function told(side: KubeletSide, { requests }: Outcome, patched: Set<string>): Told {
  return linesOf(requests, new Names(side.requests(), side.begins), patched);
}

/** One got there and the other did not. */
function waysApart(theirs: Outcome, own: Outcome): readonly Difference[] {
  const [reference, ours] = [theirs, own].map(({ isDone, complaint }) => complaint ?? (isDone ? 'done' : 'not done'));
  return reference === ours ? [] : [{ object: 'the step', action: 'ends', at: 'result', reference, ours }];
}

function reportOf(
  step: Step,
  table: string,
  { unexpected, missing }: { readonly unexpected: readonly Difference[]; readonly missing: readonly object[] },
): string {
  const ways = unexpected.filter(({ object }) => object === 'the step').map(({ ours }) => `ours: ${String(ours)}`);
  const gone = missing.map((entry) => `meant, but did not happen: ${JSON.stringify(entry)}`);
  return [`${step.name}: ${unexpected.length} differences that are not meant`, ...ways, ...gone, table].join('\n');
}

/** Requests about different objects of which one follows from the other. */
function checkOrder({ order = [] }: Step, who: string, { requests }: Outcome): void {
  const lines = requests.map(lineOf);
  for (const [earlier, later] of order) {
    const [first, second] = [earlier, later].map((start) => lines.findIndex((line) => line.startsWith(start)));
    const isOrdered = first! >= 0 && second! >= 0 && first! < second!;
    assert.ok(isOrdered, `${who}: '${earlier}' before '${later}' in\n${lines.join('\n')}`);
  }
}

/** Between renewals of one lease with nothing in between that would bring the next forward. */
function renewalGapsMs(side: KubeletSide): readonly number[] {
  const leases = side.requests().filter(({ resource }) => resource === 'leases');
  return leases.flatMap((request, place) => {
    const [before, earlier] = [leases[place - 1], leases[place - 2]];
    const isRegular = [request, before, earlier].every((each) => each !== undefined && isRenewal(each));
    return isRegular ? [request.atMs - before!.atMs] : [];
  });
}

function seconds({ tookMs }: Outcome): string {
  return `${(tookMs / 1_000).toFixed(1)} s`;
}
