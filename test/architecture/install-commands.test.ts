// Each command of docs/install.md is run by a story of the real cluster as it is written there, or is listed with the reason why none can.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type CommandPlace,
  commandsOf,
  type DocumentedCommand,
  documentedCommand,
  documentedCommands,
  isAt,
  notRunCommands,
  type RunCommand,
  runCommands,
} from '../cluster/documented-commands.ts';
import { documentedBlock } from '../cluster/documented-blocks.ts';

const folder = join(import.meta.dirname, '..', 'cluster');
const sources = globSync('**/*.ts', { cwd: folder })
  .filter((path) => !/documented-(?:commands|blocks)\.ts$/u.test(path))
  .map((path) => readFileSync(join(folder, path), 'utf8'))
  .join('\n');
const rows: readonly CommandPlace[] = [...Object.values(runCommands), ...notRunCommands];

/** Commands of the blocks that stories run as a whole. */
function blockCommands(): readonly DocumentedCommand[] {
  const calls = sources.matchAll(/documentedBlock\('([^']+)', '([^']+)'\)/gu);
  return [...calls].flatMap(([, heading = '', begins = '']) => {
    const block = documentedBlock(heading, begins);
    return commandsOf(`## ${heading}\n\`\`\`bash\n${block}\n\`\`\`\n`);
  });
}

const isSame = (one: DocumentedCommand, other: DocumentedCommand): boolean =>
  one.heading === other.heading && one.text === other.text;

test('each command of install.md is run by a story, or is listed with the reason why not', () => {
  const inBlocks = blockCommands();
  const commands = documentedCommands();
  assert.ok(commands.length > 30 && inBlocks.length > 1);
  for (const command of commands) {
    const ways =
      rows.filter((row) => isAt(command, row)).length + inBlocks.filter((one) => isSame(one, command)).length;
    assert.equal(ways, 1, `below "${command.heading}" of docs/install.md: ${command.text}`);
  }
});

test('each row of the lists is a command of install.md', () => {
  for (const row of rows) {
    const found = documentedCommands().filter((command) => isAt(command, row));
    assert.equal(found.length, 1, `${row.heading}: ${row.begins}`);
  }
});

test('each command that is listed as run is named by a story', () => {
  for (const name of Object.keys(runCommands)) assert.ok(sources.includes(`'${name}'`), name);
});

test('a command is found without comments and continuations, and its placeholders are replaced', () => {
  const page = '## A\n```bash\n# first\na --b \\\n  c   # why\n\nd\n```\n## B\n```yaml\ne\n```\n';
  assert.deepEqual(commandsOf(page), [
    { heading: 'A', text: 'a --b c' },
    { heading: 'A', text: 'd' },
  ]);
  assert.match(documentedCommand('apply an overlay', { FOLDER: '/mine' }), /--kustomize \/mine$/u);
  assert.throws(() => documentedCommand('apply an overlay', { POD: 'x' }), /"POD" is not in/u);
  assert.throws(() => documentedCommand('absent' as RunCommand));
});
