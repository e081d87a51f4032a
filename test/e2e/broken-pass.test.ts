// A monitor pass that throws: the process exits, logs the error, and lets its lease expire.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { holderWritten } from '../support/proxied-controller.ts';
import { SmallWorld, until } from '../support/small-world.ts';

const soonMs = 20_000;
const monitorPass = pathToFileURL(join(import.meta.dirname, '../../src/controller/monitor-pass.ts')).href;

/** Loaded into the process first: the third pass throws. */
const fault = `import { MonitorPass } from '${monitorPass}';
const { run } = MonitorPass.prototype;
let passes = 0;
MonitorPass.prototype.run = function () {
  passes += 1;
  if (passes === 3) throw new Error('the third pass broke');
  return run.call(this);
};`;

test('a monitor pass that throws ends the process: exit code 1, the stack in the log, the lease expires', {
  timeout: 60_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-broken-pass-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'fault.mjs'), fault);
  await using world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a' } });
  await using controller = await world.proxied(
    ['--node-monitor-period=500ms'],
    [pathToFileURL(join(folder, 'fault.mjs')).href],
  );
  await until('leading', soonMs, async () => controller.said('leading'));
  const { code } = await controller.process.exited;
  assert.equal(code, 1);
  assert.ok(controller.endedByItself, controller.process.stdout);
  const logged = controller.process.logs().filter(({ err }) => JSON.stringify(err)?.includes('the third pass broke'));
  assert.equal(logged.length, 1, controller.process.stderr);
  assert.match(JSON.stringify(logged[0]?.['err']), /fault\.mjs.*node-lifecycle\.ts/, 'with its stack');
  assert.doesNotMatch(controller.process.stderr, /^nlc: unexpected error/m);
  const holders = controller.proxy.writes.map(holderWritten).filter((holder) => holder !== undefined);
  assert.ok(holders.length > 0 && !holders.includes(''), 'the lease was not released');
});
