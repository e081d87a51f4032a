import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectArguments } from '../../../../src/cli/commands/dispatch.ts';
import { nlc } from '../../../support/run-command.ts';

test('without arguments, and with every form of help, all commands are listed', async () => {
  const plain = await nlc();
  assert.equal(plain.code, 0);
  for (const name of ['controller', 'demo', 'apiserver', 'hollow-nodes', 'version', 'help']) {
    assert.match(plain.out, new RegExp(`^  ${name} `, 'm'));
  }
  for (const word of ['help', '--help', '-h']) assert.deepEqual(await nlc(word), plain);
});

test('every form of help of a command prints the same and does not run it', async () => {
  const help = await nlc('controller', '--no-such-flag', '--help');
  assert.equal(help.code, 0);
  assert.match(help.out, /^ {2}--node-monitor-grace-period DURATION \(default 50s\)$/m);
  assert.match(help.out, /^ {2}--leader-elect \(default true\)$/m);
  assert.deepEqual(await nlc('help', 'controller'), help);
  assert.deepEqual(await nlc('controller', '-h'), help);
});

test('an unknown command is an error with the available commands and a suggestion', async () => {
  const refused = await nlc('controler');
  assert.deepEqual([refused.code, refused.out], [2, '']);
  assert.match(refused.err, /unknown command "controler"; did you mean controller\? available commands: controller, /);
  assert.doesNotMatch((await nlc('xyz')).err, /did you mean/);
});

test('help of an unknown command, or with more than one argument, is an error', async () => {
  assert.equal((await nlc('help', 'xyz')).code, 2);
  const surplus = await nlc('help', 'version', 'more');
  assert.equal(surplus.code, 2);
  assert.match(surplus.err, /unexpected argument "more"/);
});

test('version and --version print the version; flags are an error', async () => {
  const version = await nlc('version');
  assert.equal(version.code, 0);
  assert.match(version.out, /^nlc \d+\.\d+\.\d+ \(Node\.js v\d+/);
  assert.deepEqual(await nlc('--version'), version);
  assert.equal((await nlc('version', '--loud')).code, 2);
});

test('a program with the name of the kubectl plugin runs the commands of the plugin', () => {
  assert.deepEqual(selectArguments('/usr/bin/kubectl-node_lifecycle', ['status']), ['kubectl', 'status']);
  assert.deepEqual(selectArguments('C:\\bin\\kubectl-node_lifecycle.js', []), ['kubectl']);
  const complete = selectArguments('/home/u/.krew/bin/kubectl_complete-node_lifecycle', ['explain', '']);
  assert.deepEqual(complete, ['kubectl', '__complete', 'explain', '']);
  for (const path of ['/usr/bin/nlc', '/app/nlc.js', 'src/cli/main.ts', '']) {
    assert.deepEqual(selectArguments(path, ['status', '-o', 'json']), ['status', '-o', 'json'], path);
  }
});
