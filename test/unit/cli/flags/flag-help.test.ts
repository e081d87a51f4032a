import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiserverFlags } from '../../../../src/cli/simulation/apiserver/flags.ts';
import { controllerFlags } from '../../../../src/cli/controller/flags.ts';
import type { FlagDefinition } from '../../../../src/cli/flags/flag-definition.ts';
import { flagHelp } from '../../../../src/cli/flags/flag-help.ts';
import { readValues } from '../../../../src/cli/flags/flag-schema.ts';
import { hollowNodesFlags } from '../../../../src/cli/simulation/hollow-nodes/flags.ts';

const tables: Readonly<Record<string, readonly FlagDefinition[]>> = {
  controller: controllerFlags,
  apiserver: apiserverFlags,
  'hollow-nodes': hollowNodesFlags,
};

test('help lists name, value, default and description by group, within the line width', () => {
  const flag: FlagDefinition = {
    name: 'grace',
    short: 'g',
    kind: 'duration',
    group: 'Time',
    description: `How long ${'and how long '.repeat(10)}to wait`,
    default: '5s',
  };
  const lines = flagHelp([flag]).trimEnd().split('\n');
  assert.deepEqual(lines.slice(0, 2), ['Time:', '  -g, --grace DURATION (default 5s)']);
  assert.equal(
    lines
      .slice(2)
      .map((line) => line.trim())
      .join(' '),
    flag.description,
  );
  assert.ok(lines.every((line) => line.length <= 100));
});

for (const [command, table] of Object.entries(tables)) {
  test(`the flags of ${command}: names are unique, descriptions are one line, defaults are valid`, () => {
    assert.equal(new Set(table.map((flag) => flag.name)).size, table.length);
    for (const flag of table) {
      assert.match(flag.name, /^[a-z][a-z-]*$/);
      assert.match(flag.description, /^[A-Z][^\n]{10,160}[^.\n]$/, flag.name);
    }
    assert.deepEqual(readValues(table, new Map()).problems, []);
  });
}
