// The JSON schema of the controller's config file, for editors and for checks before a rollout.
import * as z from 'zod';
import { configFileSchema } from '../../src/cli/controller/config.ts';
import { controllerFlags } from '../../src/cli/controller/flags.ts';
import { type FlagDefinition, keyOf } from '../../src/cli/flags/flag-definition.ts';
import { fileSettingShape } from '../../src/policy/schema/file-settings.ts';

type Json = Readonly<Record<string, unknown>>;

/** Draft 7, which most editors support. Constraints between settings are checked by the controller only. */
export function configFileSchemaText(): string {
  const { $schema, properties, ...rest }: Json = z.toJSONSchema(configFileSchema, { target: 'draft-7', io: 'input' });
  const schema = {
    $schema,
    title: 'ControllerConfiguration of nlc controller',
    description: 'The config file of --config; flags take precedence. Live settings are applied without a restart.',
    ...rest,
    properties: Object.fromEntries(Object.entries(properties as Json).map(([key, value]) => [key, marked(key, value)])),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

const liveKeys: ReadonlySet<string> = new Set([
  ...controllerFlags.filter((flag: FlagDefinition) => flag.live === true).map(({ name }) => keyOf(name)),
  ...Object.keys(fileSettingShape),
]);

function marked(key: string, schema: unknown): unknown {
  if (!liveKeys.has(key)) return schema;
  const { description, ...rest } = schema as Json;
  return { description: `${String(description)}. Live.`, ...rest };
}
