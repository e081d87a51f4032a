import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandList } from '../../../../src/cli/commands/command-list.ts';
import { removedControllerFlags } from '../../../../src/cli/controller/flags.ts';
import { describeFlags } from '../../../../tools/docs/flag-reference.ts';

test('the flag pages list every flag under its command, and the removed flags', async () => {
  const sections = (await describeFlags()).split(/^## nlc /m);
  for (const entry of commandList) {
    const section = sections.find((candidate) => candidate.startsWith(`${entry.name}\n`)) ?? '';
    for (const flag of await entry.loadFlags()) assert.match(section, new RegExp(`--${flag.name}\``), entry.name);
  }
  const controller = sections.find((candidate) => candidate.startsWith('controller\n')) ?? '';
  for (const name of Object.keys(removedControllerFlags)) assert.ok(controller.includes(`\`--${name}\``), name);
});
