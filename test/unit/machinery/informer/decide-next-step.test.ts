import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { ApiReason } from '../../../../src/machinery/api/api-error.ts';
import {
  decideNextStep,
  type ListAttempt,
  type RelistRequest,
  type Step,
  type StepEnd,
} from '../../../../src/machinery/informer/decide-next-step.ts';

const reasons: readonly ApiReason[] = [
  ...(['bad-request', 'unauthorized', 'forbidden', 'not-found', 'method-not-allowed', 'not-acceptable'] as const),
  ...(['unsupported-media-type', 'already-exists', 'conflict', 'expired', 'invalid', 'too-large'] as const),
  ...(['too-many-requests', 'too-large-resource-version', 'timeout', 'unavailable', 'internal', 'aborted'] as const),
];
const anyReason = fc.constantFrom(...reasons);
const anyVersion = fc.constantFrom('', '7', '900');
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('watch-list' as const), resourceVersion: anyVersion }),
  fc.record({
    kind: fc.constant('list' as const),
    attempt: fc.constantFrom<ListAttempt>('pages', 'pages-again', 'whole'),
  }),
  fc.record({ kind: fc.constant('watch' as const), resourceVersion: anyVersion }),
);
const anyEnd: fc.Arbitrary<StepEnd> = fc.oneof(
  fc.constant<StepEnd>({ kind: 'listed' }),
  fc.constant<StepEnd>({ kind: 'undecodable' }),
  fc.record({
    kind: fc.constant('ended' as const),
    by: fc.constantFrom('server' as const, 'lost' as const, 'guard' as const),
    brief: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('refused' as const), reason: anyReason, laterPage: fc.boolean() }),
  fc.record({ kind: fc.constant('error-event' as const), reason: anyReason }),
);
const isForgotten = (reason: ApiReason): boolean => reason === 'expired' || reason === 'too-large-resource-version';

describe('the next step', () => {
  test('always exists', () => {
    fc.assert(
      fc.property(anyStep, anyEnd, anyVersion, fc.boolean(), (step, end, reached, listedRecently) => {
        const plan = decideNextStep(step, end, { reached, listedRecently: listedRecently });
        assert.ok(['watch-list', 'list', 'watch'].includes(plan.step.kind));
      }),
    );
  });

  const again: Step = { kind: 'watch-list', resourceVersion: '' };
  for (const step of [{ kind: 'list', attempt: 'pages' }, again] as const)
    test(`a list is dropped where the server is too busy for it, except after a restore (${step.kind})`, () => {
      const after = (reason: ApiReason, request: RelistRequest, reached = '7'): Step =>
        decideNextStep(step, { kind: 'refused', reason, laterPage: false }, { reached, listedRecently: false, request })
          .step;
      for (const request of ['requested', 'unverified', 'undecodable'] as const) {
        assert.deepEqual(after('too-many-requests', request), { kind: 'watch', resourceVersion: '7' });
        assert.deepEqual(after('too-many-requests', request, ''), again);
        assert.deepEqual(after('unavailable', request), again);
      }
      assert.deepEqual(after('too-many-requests', 'rolled-back'), again);
    });

  test('no failure repeats the same step without limit and without a pause', () => {
    fc.assert(
      fc.property(anyStep, anyReason, fc.boolean(), (first, reason, laterPage) => {
        let step = first;
        const end: StepEnd = { kind: 'refused', reason, laterPage };
        for (let steps = 0; steps < 6; steps += 1) {
          const plan = decideNextStep(step, end, { reached: '7', listedRecently: false });
          if (plan.pause) return;
          step = plan.step;
        }
        assert.fail(`no pause at ${reason}`);
      }),
    );
  });

  test('while the version is valid, a failed watch never causes a list', () => {
    const passing = ['too-many-requests', 'unavailable', 'timeout', 'internal', 'aborted', 'unauthorized', 'forbidden'];
    for (const reason of reasons) {
      const step: Step = { kind: 'watch', resourceVersion: '7' };
      for (const end of [
        { kind: 'refused', reason, laterPage: false },
        { kind: 'error-event', reason },
      ] as const) {
        const plan = decideNextStep(step, end, { reached: '8', listedRecently: false });
        assert.equal(plan.step.kind, passing.includes(reason) ? 'watch' : 'watch-list', reason);
        assert.equal(plan.relist, passing.includes(reason) ? undefined : isForgotten(reason) ? 'expired' : 'refused');
        assert.equal('resourceVersion' in plan.step && plan.step.resourceVersion, '8', 'from the reached version');
      }
    }
  });

  test('an expired version causes a list at once, unless the last list is recent', () => {
    const end: StepEnd = { kind: 'error-event', reason: 'expired' };
    const step: Step = { kind: 'watch', resourceVersion: '7' };
    assert.equal(decideNextStep(step, end, { reached: '7', listedRecently: false }).pause, false);
    assert.equal(decideNextStep(step, end, { reached: '7', listedRecently: true }).pause, true);
  });

  test('a page that is too large is requested once as a whole list, which is not buffered', () => {
    const end: StepEnd = { kind: 'refused', reason: 'too-large', laterPage: false };
    const progress = { reached: '7', listedRecently: false };
    const once = decideNextStep({ kind: 'list', attempt: 'pages' }, end, progress);
    assert.deepEqual(once, { step: { kind: 'list', attempt: 'whole' }, pause: false });
    assert.equal(decideNextStep(once.step, end, progress).pause, true);
  });

  test('a streaming list at an unavailable version requests the most recent one, then waits', () => {
    const end: StepEnd = { kind: 'refused', reason: 'expired', laterPage: false };
    const once = decideNextStep({ kind: 'watch-list', resourceVersion: '7' }, end, {
      reached: '7',
      listedRecently: false,
    });
    assert.deepEqual(once, { step: { kind: 'watch-list', resourceVersion: '' }, pause: false });
    const twice = decideNextStep(once.step, end, { reached: '7', listedRecently: false });
    assert.deepEqual(twice, { step: { kind: 'watch-list', resourceVersion: '' }, pause: true });
  });
});
