import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dispatch } from '../../../src/cli/dispatch.ts';

async function nlc(...argv: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await dispatch(argv, {
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
    env: {},
    signal: new AbortController().signal,
  });
  return { code, out: out.join(''), err: err.join('') };
}

test('without a word, and in every spelling, help names all commands', async () => {
  const plain = await nlc();
  assert.equal(plain.code, 0);
  for (const name of ['controller', 'demo', 'apiserver', 'hollow-nodes', 'version', 'help']) {
    assert.match(plain.out, new RegExp(`^  ${name} `, 'm'));
  }
  for (const word of ['help', '--help', '-h']) assert.deepEqual(await nlc(word), plain);
});

test('help of a command is the same however it is asked for, and does not run it', async () => {
  const help = await nlc('controller', '--no-such-flag', '--help');
  assert.equal(help.code, 0);
  assert.match(help.out, /^ {2}--node-monitor-grace-period DURATION \(default 50s\)$/m);
  assert.match(help.out, /^ {2}--leader-elect \(default true\)$/m);
  assert.deepEqual(await nlc('help', 'controller'), help);
  assert.deepEqual(await nlc('controller', '-h'), help);
});

test('an unknown command is refused with what there is, and with what may have been meant', async () => {
  const refused = await nlc('controler');
  assert.equal(refused.code, 2);
  assert.equal(refused.out, '');
  assert.match(refused.err, /unknown command "controler"; did you mean controller\? there are: controller, /);
  assert.doesNotMatch((await nlc('xyz')).err, /did you mean/);
});

test('help for what is not there is refused', async () => {
  assert.equal((await nlc('help', 'xyz')).code, 2);
  const surplus = await nlc('help', 'version', 'more');
  assert.equal(surplus.code, 2);
  assert.match(surplus.err, /stray argument "more"/);
});

test('the version is printed under both names, and takes no flags', async () => {
  const version = await nlc('version');
  assert.equal(version.code, 0);
  assert.match(version.out, /^nlc \d+\.\d+\.\d+ \(Node\.js v\d+/);
  assert.deepEqual(await nlc('--version'), version);
  assert.equal((await nlc('version', '--loud')).code, 2);
});
