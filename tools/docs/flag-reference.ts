import { commandList } from '../../src/cli/commands/command-list.ts';
import { configApiVersion, configKind } from '../../src/cli/controller/config-file.ts';
import { removedControllerFlags } from '../../src/cli/controller/flags.ts';
import { acceptedBy, type FlagDefinition } from '../../src/cli/flags/flag-definition.ts';
import { groupsOf, nameOf } from '../../src/cli/flags/flag-help.ts';

const opening = `# Flags

This page lists all flags of all commands. It is generated from the same tables as \`nlc COMMAND --help\`.

Durations are Go durations: \`1m30s\`, \`500ms\`. \`--flag=false\` disables a boolean flag. All invalid flags are reported
together, with exit code 2.
`;

const configFile = `### Config file

\`--config FILE\` reads a YAML file with the same settings under the flags' names in camel case; flags take precedence. An
unknown setting is an error. [config.schema.json](config.schema.json) is its JSON schema, for editors and for checks
before a rollout; \`nlc validate FILE\` and \`--validate-only\` also check the constraints between settings. The settings
\`policies\` and \`paused\` have no flag: [policies.md](policies.md).

\`\`\`yaml
apiVersion: ${configApiVersion}
kind: ${configKind}
nodeMonitorGracePeriod: 50s
nodeEvictionRate: 0.1
\`\`\`

The leader and the standbys reload the file when it changes. Settings marked live take effect from the next decision on; a
change of any other setting is logged and requires a restart. An invalid file changes nothing: all its errors are logged,
\`node_lifecycle_config_last_reload_successful\` is 0, and the current settings stay in effect. \`/configz\` shows the current
settings, \`nlc status\` shows what changed and when. A file that is mounted with \`subPath\` never changes.
`;

/** The flag reference of all commands that have flags, as a Markdown page. */
export async function describeFlags(): Promise<string> {
  const sections: string[] = [opening];
  for (const entry of commandList) {
    const flags = await entry.loadFlags();
    if (flags.length === 0) continue;
    sections.push(`## nlc ${entry.name}\n\n${entry.summary}.\n\n${flagTables(flags)}`);
    if (entry.name === 'controller') sections.push(configFile, removedSection());
  }
  return sections.join('\n');
}

/** The flags as Markdown, one table for each group. With a config file, a column states which settings are live. */
export function flagTables(table: readonly FlagDefinition[]): string {
  const isReloaded = table.some(({ name }) => name === 'config');
  const columns = ['flag', 'default', 'accepted values', ...(isReloaded ? ['live'] : []), 'description'];
  const head = `${tableLine(columns)}${tableLine(columns.map(() => '---'))}`;
  const sections = [...groupsOf(table)].map(
    ([group, flags]) => `### ${group}\n\n${head}${flags.map((flag) => tableRow(flag, isReloaded)).join('')}`,
  );
  return sections.join('\n');
}

function tableRow(flag: FlagDefinition, isReloaded: boolean): string {
  const fallback = flag.default === undefined ? '' : `\`${String(flag.default)}\``;
  const live = isReloaded ? [flag.live === true ? 'yes' : ''] : [];
  return tableLine([`\`${nameOf(flag)}\``, fallback, acceptedBy(flag), ...live, flag.description]);
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}

function removedSection(): string {
  const rows = Object.entries(removedControllerFlags).map(([name, why]) => `| \`--${name}\` | ${why} |\n`);
  return `### Removed\n\nThese flags are rejected with this explanation:\n\n| flag | error |\n| --- | --- |\n${rows.join('')}`;
}
