import { commandList } from './command-list.ts';
import { configApiVersion, configKind } from './config-file.ts';
import { removedControllerFlags } from './controller-flags.ts';
import { flagTables } from './flag-help.ts';

const opening = `# Flags

This page is generated from the tables that the program itself reads; \`nlc COMMAND --help\` prints the same.

Durations are written as in Go: \`1m30s\`, \`500ms\`. A boolean is switched off with \`--flag=false\`. All mistakes are
reported at once, with exit code 2.
`;

const configFile = `### Config file

\`--config FILE\` names a YAML file with the same settings under the flags' names in camel case; flags win over it. A
setting it does not know is refused. [config.schema.json](config.schema.json) is its JSON schema, for editors and for checks
before a rollout; what must hold between settings \`--validate-only\` knows.

\`\`\`yaml
apiVersion: ${configApiVersion}
kind: ${configKind}
nodeMonitorGracePeriod: 50s
nodeEvictionRate: 0.1
\`\`\`

The file is read again when it changes, by whoever leads and by whoever stands by. Settings marked live are in force from the
next decision on; a change of any other is told in the log, and waits for a restart. A file with a problem changes nothing:
all its problems are logged, \`node_lifecycle_config_last_reload_successful\` is 0, and the settings in force stay. \`/configz\`
shows these, \`nlc status\` what was changed and when. A file that is mounted with \`subPath\` never changes.
`;

/** The flag reference of every command that has flags, as a Markdown page. */
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
  return `### Removed\n\nGiving one of these is a mistake, with an explanation:\n\n| flag | why |\n| --- | --- |\n${rows.join('')}`;
}
