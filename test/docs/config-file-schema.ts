// The controller's config file as a JSON schema, for editors and for whoever checks files before they are rolled out.
import { z } from 'zod';
import { configFileSchema } from '../../src/cli/controller-config.ts';
import { controllerFlags } from '../../src/cli/controller-flags.ts';
import { type FlagDefinition, keyOf } from '../../src/cli/flag-definition.ts';

type Json = Readonly<Record<string, unknown>>;

/** Draft 7, which most editors understand. What holds between settings only the controller knows. */
export function configFileSchemaText(): string {
  const { $schema, properties, ...rest }: Json = z.toJSONSchema(configFileSchema, { target: 'draft-7', io: 'input' });
  const schema = {
    $schema,
    title: 'ControllerConfiguration of nlc controller',
    description: 'The file that --config names; flags win over it. Live settings are taken up without a restart.',
    ...rest,
    properties: Object.fromEntries(Object.entries(properties as Json).map(([key, value]) => [key, marked(key, value)])),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

const liveKeys: ReadonlySet<string> = new Set(
  controllerFlags.filter((flag: FlagDefinition) => flag.live === true).map(({ name }) => keyOf(name)),
);

function marked(key: string, schema: unknown): unknown {
  if (!liveKeys.has(key)) return schema;
  const { description, ...rest } = schema as Json;
  return { description: `${String(description)}. Live.`, ...rest };
}
