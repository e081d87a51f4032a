import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { simulationRuntime } from '../../../../src/cli/simulate/simulation-runtime.ts';

const runtimeFile = resolve(import.meta.dirname, '../../../../src/cli/simulate/simulation-runtime.ts');

test('each callback runs after all promises of the one before it, also beyond one turn of the event loop', async () => {
  const seen: string[] = [];
  await new Promise<void>((done) => {
    let steps = 0;
    const step = (): void => {
      steps += 1;
      seen.push(`step ${steps}`);
      if (steps === 600) return done();
      void Promise.resolve()
        .then(() => undefined)
        .then(() => seen.push(`promises of ${steps}`));
      simulationRuntime.settle(step);
    };
    simulationRuntime.settle(step);
  });
  const wanted = Array.from({ length: 599 }, (_, index) => [`step ${index + 1}`, `promises of ${index + 1}`]);
  assert.deepEqual(seen, [...wanted.flat(), 'step 600']);
});

test('two simulations at once both go on', async () => {
  const runs = ['a', 'b'].map(async () => {
    for (let step = 0; step < 300; step += 1) await new Promise<void>((then) => simulationRuntime.settle(then));
    return 'over';
  });
  assert.deepEqual(await Promise.all(runs), ['over', 'over']);
});

test('a rejection that is handled only after the next callback ends the process', () => {
  const program = `
    import { simulationRuntime } from ${JSON.stringify(runtimeFile)};
    let late;
    simulationRuntime.settle(() => {
      late = Promise.reject(new Error('handled too late'));
      simulationRuntime.settle(() => late.catch(() => process.stdout.write('handled')));
    });`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
  assert.notEqual(status, 0);
  assert.equal(stdout.toString(), '');
  assert.match(stderr.toString(), /handled too late/);
});
