import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideReport, type ReportInput } from '../../../../../src/hollow-cluster/kubelet/node-status/decide-report.ts';

const quiet: ReportInput = {
  changed: false,
  nowMs: 1_000_000,
  lastReportAtMs: 1_000_000,
  delayMs: 0,
  reportFrequencyMs: 300_000,
  chance: 0.75,
};

describe('the decision whether a status is reported', () => {
  it('reports at once if it changed or was never reported, and then moves the next report by up to half a period', () => {
    assert.deepEqual(decideReport({ ...quiet, changed: true }), { report: true, delayMs: 75_000 });
    assert.deepEqual(decideReport({ ...quiet, lastReportAtMs: undefined, chance: 0 }), {
      report: true,
      delayMs: -150_000,
    });
  });

  it('reports after the period and its delay, and then resets the delay', () => {
    const nowMs = quiet.nowMs + 375_000;
    assert.deepEqual(decideReport({ ...quiet, nowMs: nowMs - 1, delayMs: 75_000 }), { report: false, delayMs: 75_000 });
    assert.deepEqual(decideReport({ ...quiet, nowMs, delayMs: 75_000 }), { report: true, delayMs: 0 });
  });
});
