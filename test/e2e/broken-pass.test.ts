// A pass of the controller that throws: the process ends, says what it threw, and lets its lease run out.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { holderWritten, ProxiedController } from '../support/proxied-controller.ts';
import { SmallWorld, until } from '../support/small-world.ts';

const soonMs = 20_000;
const monitorPass = pathToFileURL(join(import.meta.dirname, '../../src/controller/monitor-pass.ts')).href;

/** Loaded into the process before anything else: the third pass throws. */
const fault = `import { MonitorPass } from '${monitorPass}';
const { run } = MonitorPass.prototype;
let passes = 0;
MonitorPass.prototype.run = function () {
  passes += 1;
  if (passes === 3) throw new Error('the third pass broke');
  run.call(this);
};`;

test('a monitor pass that throws ends the process: code 1, the stack in the log, the lease left to run out', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-broken-pass-'));
  writeFileSync(join(folder, 'fault.mjs'), fault);
  const world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a' } });
  const { url, caPem, adminToken } = world.server;
  const controller = await ProxiedController.start({
    url,
    ca: caPem,
    token: adminToken,
    folder,
    name: 'nlc',
    args: ['--node-monitor-period=500ms'],
    imports: [pathToFileURL(join(folder, 'fault.mjs')).href],
  });
  try {
    await until('leading', soonMs, async () => controller.said('leading'));
    const { code } = await controller.process.exited;
    assert.equal(code, 1);
    assert.ok(controller.endedByItself, controller.process.stdout);
    const told = controller.process.logs().filter(({ err }) => JSON.stringify(err)?.includes('the third pass broke'));
    assert.equal(told.length, 1, controller.process.stderr);
    assert.match(JSON.stringify(told[0]?.['err']), /fault\.mjs.*node-lifecycle\.ts/, 'with its stack');
    assert.doesNotMatch(controller.process.stderr, /^nlc: unexpected failure/m);
    const holders = controller.proxy.writes.map(holderWritten).filter((holder) => holder !== undefined);
    assert.ok(holders.length > 0 && !holders.includes(''), 'the lease was not given back');
  } finally {
    await controller.stop();
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
