import { commandList } from '../../src/cli/commands/command-list.ts';
import { configApiVersion, configKind } from '../../src/cli/controller/config-file.ts';
import { removedControllerFlags } from '../../src/cli/controller/flags.ts';
import { flagTables } from '../../src/cli/flags/flag-help.ts';

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

function removedSection(): string {
  const rows = Object.entries(removedControllerFlags).map(([name, why]) => `| \`--${name}\` | ${why} |\n`);
  return `### Removed\n\nThese flags are rejected with this explanation:\n\n| flag | error |\n| --- | --- |\n${rows.join('')}`;
}
