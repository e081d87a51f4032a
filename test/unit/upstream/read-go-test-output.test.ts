import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readGoTestOutput } from '../../upstream/read-go-test-output.ts';

const output = `I1125 etcd.go:66] etcd already running
=== RUN   TestEviction
=== RUN   TestEviction/added_by_user;_enabled
    feature_gate.go:170: Set feature gate
    lifecycle_test.go:212: Test Failed: error timed out
=== RUN   TestEviction/enabled
--- FAIL: TestEviction (30.10s)
    --- FAIL: TestEviction/added_by_user;_enabled (20.05s)
    --- PASS: TestEviction/enabled (10.00s)
=== RUN   TestOther
--- SKIP: TestOther (0s)
FAIL
`;

describe('the output of a Go test binary', () => {
  it('has the results of tests without subtests, and the messages of those that failed', () => {
    assert.deepEqual(readGoTestOutput(output), [
      {
        name: 'TestEviction/added_by_user;_enabled',
        outcome: 'failed',
        seconds: 20.05,
        message: 'feature_gate.go:170: Set feature gate\nlifecycle_test.go:212: Test Failed: error timed out',
      },
      { name: 'TestEviction/enabled', outcome: 'passed', seconds: 10 },
      { name: 'TestOther', outcome: 'skipped', seconds: 0, message: '' },
    ]);
  });

  it('without a result line gives none: the binary crashed', () => {
    assert.deepEqual(readGoTestOutput('=== RUN   TestEviction\npanic: nil\n'), []);
  });
});
