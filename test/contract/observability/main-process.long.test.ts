import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { controlsIn } from '../../support/control-characters.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const main = new URL('../../../src/cli/main.ts', import.meta.url).pathname;

function start(...argv: readonly string[]) {
  const child = spawn(process.execPath, [main, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text));
  const ended = once(child, 'close').then(([code]) => ({ ...said, code: Number(code) }));
  return { child, ended, said };
}

/** Resolves when the process has printed it; fails with its whole output if it exits before. */
async function saying({ child, ended, said }: ReturnType<typeof start>, wanted: RegExp): Promise<void> {
  const printed = Promise.withResolvers<void>();
  const look = (): void => {
    if (wanted.test(said.out)) printed.resolve();
  };
  child.stdout.on('data', look);
  look();
  await Promise.race([printed.promise, ended.then((end) => assert.fail(`ended with ${JSON.stringify(end)}`))]);
}

test('help and version exit with 0 and print to standard output', async () => {
  const help = await start('help').ended;
  assert.deepEqual([help.code, help.err], [0, '']);
  assert.match(help.out, /^Usage: nlc COMMAND/m);
  assert.equal((await start('version').ended).code, 0);
});

test('an unknown command exits with 2 and prints to standard error', async () => {
  const { code, out, err } = await start('contrler').ended;
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /did you mean controller\?/);
});

test('three invalid flags of the controller: three lines in one run, exit code 2', async () => {
  const { code, out, err } = await start(
    'controller',
    '--node-eviction-rate=-1',
    '--node-monitor-grace-period=banana',
    '--no-such-flag',
  ).ended;
  assert.deepEqual([code, out], [2, '']);
  for (const flag of [
    '--node-eviction-rate: must be a number >= 0 (got -1)',
    '--node-monitor-grace-period: must be a duration > 0 with a unit, such as 1m30s or 500ms (got "banana")',
    '--no-such-flag: unknown',
  ]) {
    assert.ok(err.includes(flag), err);
  }
});

test('checking only the flags exits with 0, and logs warnings', async () => {
  const { code, out, err } = await start('controller', '--validate-only', '--node-monitor-grace-period=20s').ended;
  assert.deepEqual([code, out], [0, 'the configuration is valid\n']);
  assert.match(err, /warning: --node-monitor-grace-period is 20s/);
});

test('checking only a configuration of hostile names and values prints no control character', async () => {
  const hostile = 'a\\e[2J\\u009b\\u202e\\nb';
  const file = join(tempFolder(), 'config.yaml');
  const lines = [
    'apiVersion: nodelifecycle/v1alpha1',
    'kind: ControllerConfiguration',
    `"${hostile}": 1`,
    `nodeMonitorGracePeriod: "${hostile}"`,
    'policies:',
    `  - { name: "${hostile}", selector: { matchLabels: { "${hostile}": "${hostile}" } }, "${hostile}": 1 }`,
  ];
  writeFileSync(file, lines.join('\n'));
  const { code, out, err } = await start('controller', '--validate-only', `--config=${file}`).ended;
  assert.deepEqual([code, out], [2, '']);
  for (const field of ['nodeMonitorGracePeriod', 'policies[0]']) assert.ok(err.includes(field), err);
  assert.ok(err.includes('\\x1b[2J'), err);
  assert.deepEqual(controlsIn(err), []);
});

/** Hollow nodes with a server that never responds: a command that runs until it is stopped. */
async function withRunningCommand(use: (running: ReturnType<typeof start>) => Promise<void>): Promise<void> {
  const asked = Promise.withResolvers<void>();
  const server = createServer(() => asked.resolve());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const folder = tempFolder();
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${address.port}` } }],
      users: [{ name: 'u', user: {} }],
    }),
  );
  const running = start('hollow-nodes', `--kubeconfig=${kubeconfig}`, '--nodes=1');
  try {
    await Promise.race([asked.promise, running.ended]);
    await use(running);
  } finally {
    running.child.kill('SIGKILL');
    await running.ended;
    server.closeAllConnections();
    server.close();
  }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} ends a running command gracefully`, { timeout: 30_000 }, async () => {
    await withRunningCommand(async ({ child, ended }) => {
      child.kill(signal);
      const { code, err } = await ended;
      assert.equal(code, 0, err);
    });
  });
}

test('a second signal ends it at once with exit code 1', { timeout: 30_000 }, async () => {
  await withRunningCommand(async ({ child, ended }) => {
    child.kill('SIGTERM');
    child.kill('SIGINT');
    assert.equal((await ended).code, 1);
  });
});

test('the embedded server and hollow nodes connect through the kubeconfig', { timeout: 60_000 }, async () => {
  const folder = tempFolder();
  const kubeconfig = join(folder, 'kubeconfig');
  const server = start('apiserver', '--port=0', `--kubeconfig-out=${kubeconfig}`);
  try {
    await saying(server, /API server listening on https:\/\/127\.0\.0\.1:\d+/);
    assert.equal(statSync(kubeconfig).mode & 0o777, 0o600);
    const nodes = start('hollow-nodes', `--kubeconfig=${kubeconfig}`, '--nodes=3', '--zones=2');
    await saying(nodes, /3 nodes are registered/);
    nodes.child.kill('SIGTERM');
    const nodesEnd = await nodes.ended;
    assert.equal(nodesEnd.code, 0, nodesEnd.err);
    server.child.kill('SIGTERM');
    const serverEnd = await server.ended;
    assert.equal(serverEnd.code, 0, serverEnd.err);
  } finally {
    server.child.kill('SIGKILL');
  }
});

test('a kubeconfig of another program is not overwritten', async () => {
  const folder = tempFolder();
  const kubeconfig = join(folder, 'config');
  writeFileSync(kubeconfig, 'apiVersion: v1\n');
  const { code, err } = await start('apiserver', '--port=0', `--kubeconfig-out=${kubeconfig}`).ended;
  assert.equal(code, 2);
  assert.match(err, /--kubeconfig-out: must be a new file or one written by nlc apiserver/);
  assert.equal(readFileSync(kubeconfig, 'utf8'), 'apiVersion: v1\n');
});

test('a port in use ends the embedded server with the reason', async () => {
  const holder = createServer();
  holder.listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const address = holder.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { code, err } = await start('apiserver', `--port=${address.port}`).ended;
  holder.close();
  assert.deepEqual(
    [code, err],
    [1, `nlc apiserver: cannot listen on port ${address.port} (EADDRINUSE); --port=0 selects a free port\n`],
  );
});
