import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandList } from '../../../../src/cli/commands/command-list.ts';
import { removedControllerFlags } from '../../../../src/cli/controller/flags.ts';
import { describeFlags, flagTables } from '../../../../tools/docs/flag-reference.ts';

test('the flag pages list every flag under its command, and the removed flags', async () => {
  const sections = (await describeFlags()).split(/^## nlc /m);
  for (const entry of commandList) {
    const section = sections.find((candidate) => candidate.startsWith(`${entry.name}\n`)) ?? '';
    for (const flag of await entry.loadFlags()) assert.match(section, new RegExp(`--${flag.name}\``), entry.name);
  }
  const controller = sections.find((candidate) => candidate.startsWith('controller\n')) ?? '';
  for (const name of Object.keys(removedControllerFlags)) assert.ok(controller.includes(`\`--${name}\``), name);
});

test('the Markdown table has a row for each flag and escapes pipes', () => {
  const text = flagTables([
    { name: 'a', kind: 'text', group: 'G', description: 'this | that', choices: ['x', 'y'], default: 'x' },
  ]);
  assert.equal(
    text,
    '### G\n\n| flag | default | accepted values | description |\n| --- | --- | --- | --- |\n| `--a` | `x` | one of x, y | this \\| that |\n',
  );
});
