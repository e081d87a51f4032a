/** Scenarios that are shipped, as `nlc simulate` runs them. */
import assert from 'node:assert/strict';
import type { ScenarioResult } from '../../src/simulator/scenario/scenario-result.ts';
import { run } from '../../src/cli/commands/simulate.ts';

interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function simulate(...argv: readonly string[]): Promise<Output> {
  const printed = { stdout: '', stderr: '' };
  const io = {
    stdout: (text: string) => void (printed.stdout += text),
    stderr: (text: string) => void (printed.stderr += text),
    env: {},
    signal: new AbortController().signal,
  };
  return { code: await run(argv, io), ...printed };
}

export async function resultOf(name: string, ...argv: readonly string[]): Promise<ScenarioResult> {
  const { code, stdout, stderr } = await simulate(`scenarios/${name}.yaml`, '--output=json', ...argv);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as ScenarioResult;
}

const graceMs = 50_000;
const renewalMs = 10_500;

/** No node that was reachable was marked, and each one that was not within the grace period of its last heartbeat. */
export function assertDetection({ outcomes, falseAssessments }: ScenarioResult): void {
  assert.equal(falseAssessments, 0);
  for (const { node, faultAtMs = 0, notReadyAtMs } of outcomes) {
    if (notReadyAtMs === undefined) continue;
    const afterMs = notReadyAtMs - faultAtMs;
    assert.ok(afterMs > graceMs - renewalMs && afterMs < graceMs + 5_000, `${node}: ${afterMs} ms`);
  }
}
