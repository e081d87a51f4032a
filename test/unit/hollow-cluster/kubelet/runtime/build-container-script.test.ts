import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  selectDelayMs,
  type ContainerScript,
  buildContainerScript,
} from '../../../../../src/hollow-cluster/kubelet/runtime/build-container-script.ts';
import { plainScript } from '../../../../../src/hollow-cluster/kubelet/runtime/hollow-runtime.ts';
import { makePod } from '../../../../support/runtime-world.ts';

const app = { name: 'app' };
const scripted = (annotations: Readonly<Record<string, string>>, container = app): ContainerScript =>
  buildContainerScript(plainScript, [], makePod('web', {}, annotations), container);

describe('the script of a container', () => {
  const rows: readonly [string, string, Partial<ContainerScript>][] = [
    ['sandbox-failure', 'no network', { sandboxFailure: 'no network' }],
    ['pull-time', '1m30s', { pullMs: 90_000 }],
    ['pull-failure', 'not found', { pullFailure: 'not found' }],
    ['create-failure', 'no device', { createFailure: 'no device' }],
    ['start-time', '250ms', { startMs: 250 }],
    ['exit-after', '1.5s', { exitAfterMs: 1_500 }],
    ['exit-after', 'never', {}],
    ['exit-code', '42', { exitCode: 42 }],
    ['pre-stop-time', '2s', { preStopMs: 2_000 }],
    ['stop-time', '10s', { stopMs: 10_000 }],
    ['stop-time', 'never', { stopMs: 'never' }],
    ['stop-exit-code', '143', { stopExitCode: 143 }],
    ['stuck-kill', 'true', { stuckKill: true }],
    ['violates-stop', 'true', { violatesStop: true }],
    ['readiness-fails', '30s', { readinessFails: { fromMs: 0, untilMs: 30_000 } }],
    ['liveness-fails', '10s..1m', { livenessFails: { fromMs: 10_000, untilMs: 60_000 } }],
    ['startup-fails', '5s..', { startupFails: { fromMs: 5_000, untilMs: Number.POSITIVE_INFINITY } }],
    ['startup-fails', 'always', { startupFails: { fromMs: 0, untilMs: Number.POSITIVE_INFINITY } }],
    ['readiness-fails', '30s..10s', {}],
    ['readiness-fails', '1s..2s..3s', {}],
    ['readiness-fails', '', {}],
    ['stuck-kill', 'yes', {}],
    ['start-time', 'soon', {}],
    ['exit-code', '-1', {}],
    ['exit-code', '1000', {}],
    ['no-such-thing', '1s', {}],
  ];
  for (const [name, text, expected] of rows) {
    it(`hollow-kubelet/${name}: ${text}`, () => {
      assert.deepEqual(scripted({ [`hollow-kubelet/${name}`]: text }), { ...plainScript, ...expected });
      assert.deepEqual(scripted({ [`hollow-kubelet/${name}.app`]: text }), { ...plainScript, ...expected });
      assert.deepEqual(scripted({ [`hollow-kubelet/${name}.other`]: text }), plainScript);
    });
  }

  it('takes the time of a preStop hook from its sleep action, unless an annotation has another', () => {
    const sleepy = (seconds: number) => ({ ...app, lifecycle: { preStop: { sleep: { seconds } } } });
    assert.equal(scripted({}, sleepy(5)).preStopMs, 5_000);
    assert.equal(buildContainerScript({ ...plainScript, preStopMs: 7 }, [], makePod('web'), sleepy(0)).preStopMs, 0);
    assert.equal(scripted({ 'hollow-kubelet/pre-stop-time': '1s' }, sleepy(5)).preStopMs, 1_000);
  });

  it('prefers container annotations, then pod annotations, then rules, the last one first', () => {
    const pod = makePod('web', {}, { 'hollow-kubelet/exit-code': '3', 'hollow-kubelet/exit-code.app': '4' });
    const rules = [
      { script: { exitCode: 1, stopMs: 7, pullMs: 1 } },
      { labels: {}, script: { exitCode: 2, stopMs: 8 } },
      { podName: 'other', script: { stopMs: 9 } },
    ];
    const exits = (name: string) => {
      const { exitCode, stopMs, pullMs } = buildContainerScript(plainScript, rules, pod, { name });
      return [exitCode, stopMs, pullMs];
    };
    assert.deepEqual(exits('app'), [4, 8, 1]);
    assert.deepEqual(exits('other'), [3, 8, 1]);
  });

  it('applies rules to the matching pods and containers', () => {
    const pod = makePod('web');
    const labelled = { ...pod, metadata: { ...pod.metadata, labels: { app: 'x', tier: 'y' } } };
    const hits = (rule: object): boolean =>
      buildContainerScript(plainScript, [{ ...rule, script: { exitCode: 9 } }], labelled, app).exitCode === 9;
    assert.deepEqual(
      [{}, { namespace: 'ns' }, { podName: 'web' }, { container: 'app' }, { labels: { app: 'x' } }].map(hits),
      [true, true, true, true, true],
    );
    assert.deepEqual(
      [{ namespace: 'x' }, { podName: 'x' }, { container: 'x' }, { labels: { app: 'x', tier: 'x' } }].map(hits),
      [false, false, false, false],
    );
  });
});

describe("a duration in Go's notation", () => {
  const rows: readonly [string, number | undefined][] = [
    ['0s', 0],
    ['1h1m1s1ms', 3_661_001],
    ['5', undefined],
    ['', undefined],
    ['-1s', undefined],
    ['1s ', undefined],
    ['s', undefined],
  ];
  for (const [text, expected] of rows) {
    it(`"${text}": ${expected}`, () => assert.equal(selectDelayMs(text), expected));
  }
});
