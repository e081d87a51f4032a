import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readKnownTests, readResults, readSuiteFailures } from '../../upstream/read-ginkgo-report.ts';

const spec = {
  ContainerHierarchyTexts: ['[sig-apps] Job'],
  LeafNodeType: 'It',
  LeafNodeText: 'should delete a job [Conformance]',
  LeafNodeLocation: { FileName: 'k8s.io/kubernetes@v1.36.3/test/e2e/apps/job.go' },
  State: 'passed',
  RunTime: 2_500_000_000,
};
const name = '[sig-apps] Job should delete a job [Conformance]';

function report(...specs: readonly unknown[]): string {
  return JSON.stringify([{ SpecReports: specs }]);
}

describe('the JSON report of ginkgo', () => {
  it('names a test by all of its texts, and its file below test/e2e', () => {
    const outer = { ...spec, ContainerHierarchyTexts: ['[sig-apps] Job', '', 'inner'] };
    assert.deepEqual(readKnownTests(report(spec, outer)), [
      { name, file: 'apps/job.go' },
      { name: '[sig-apps] Job inner should delete a job [Conformance]', file: 'apps/job.go' },
    ]);
  });

  it('has no results of set-up nodes, and of tests that are pending, out of focus or interrupted', () => {
    const setUp = { ...spec, LeafNodeType: 'SynchronizedBeforeSuite' };
    const unfocused = { ...spec, State: 'skipped' };
    const others = ['pending', 'interrupted'].map((State) => ({ ...spec, State }));
    assert.deepEqual(readResults(report(setUp, unfocused, ...others)), []);
  });

  it('gives passes, failures of any kind and skips by the test itself', () => {
    const failed = { ...spec, State: 'panicked', Failure: { Message: 'nil pointer' } };
    const skipped = { ...spec, State: 'skipped', Failure: { Message: 'needs 5 nodes' } };
    assert.deepEqual(readResults(report(spec, failed, skipped)), [
      { name, outcome: 'passed', seconds: 2.5 },
      { name, outcome: 'failed', message: 'nil pointer', seconds: 2.5 },
      { name, outcome: 'skipped', message: 'needs 5 nodes', seconds: 2.5 },
    ]);
  });

  it('gives failures of the run: set-up nodes and reasons of ginkgo, without failed tests', () => {
    const setUp = {
      ...spec,
      LeafNodeType: 'SynchronizedBeforeSuite',
      State: 'failed',
      Failure: { Message: 'no nodes' },
    };
    const text = JSON.stringify([
      { SpecReports: [setUp], SpecialSuiteFailureReasons: ['Suite Timeout Elapsed', 'Detected failing tests'] },
    ]);
    assert.deepEqual(readSuiteFailures(text), ['SynchronizedBeforeSuite: no nodes', 'Suite Timeout Elapsed']);
  });

  it('is rejected if it is not a report', () => {
    assert.throws(() => readResults('{}'), /expected array/);
  });
});
