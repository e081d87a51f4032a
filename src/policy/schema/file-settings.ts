// Settings of the config file that have no flag. All of them take effect without a restart.
import * as z from 'zod';
import { listOf, ownValue } from '../../machinery/api/json-map.ts';
import type { ControllerOptions } from '../../controller/model/options.ts';
import { decodePolicies } from './decode-policies.ts';
import { describeSchemaIssue } from './describe-schema-issue.ts';
import { policiesMax, type PolicyInput, policySchema, selectSoundFields } from './policy-schema.ts';
import { validatePolicies } from './validate-policies.ts';

export type FileSettings = Pick<ControllerOptions, 'policies' | 'paused'>;

const policiesError = `a list of at most ${policiesMax} policies`;

/** The schema of each setting, by key. */
export const fileSettingShape = {
  policies: z
    .array(policySchema, { error: policiesError })
    .max(policiesMax, { error: policiesError })
    .optional()
    .describe('Grace periods and modes for the nodes that a label selector matches (docs/policies.md)'),
  paused: z
    .boolean({ error: 'true or false' })
    .optional()
    .describe('Hold marking, tainting and evictions for all nodes; recovery goes on'),
} as const;

const schema = z.object(fileSettingShape);

export const defaultFileSettings: FileSettings = { policies: [], paused: false };

interface ReadSettings {
  /** The defaults if there are problems. */
  readonly settings: FileSettings;
  readonly problems: readonly string[];
}

/** Reads these settings from the content of a config file. Each problem names the field, what is accepted and the value. */
export function readFileSettings(content: Readonly<Record<string, unknown>>): ReadSettings {
  const given = Object.fromEntries(
    Object.keys(fileSettingShape).map((key) => [key, ownValue(content, key) ?? undefined]),
  );
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    // A text that matches neither of two patterns is two issues.
    const { issues } = parsed.error;
    const problems = new Set([
      ...issues.flatMap((issue) => describeSchemaIssue(issue, given)),
      ...validatePolicies(soundPolicies(content, issues)),
    ]);
    return { settings: defaultFileSettings, problems: [...problems] };
  }
  const policies: readonly PolicyInput[] = parsed.data.policies ?? [];
  const problems = validatePolicies(policies);
  if (problems.length > 0) return { settings: defaultFileSettings, problems };
  const decoded = policies.length === 0 ? defaultFileSettings.policies : decodePolicies(policies);
  return { settings: { policies: decoded, paused: parsed.data.paused ?? false }, problems };
}

/** What the rules between fields can check of policies with these issues. */
function soundPolicies(
  { policies }: Readonly<Record<string, unknown>>,
  issues: readonly z.core.$ZodIssue[],
): readonly PolicyInput[] {
  const paths = issues.map(({ path }) => path).filter(([setting]) => setting === 'policies');
  if (paths.some(([, index]) => index === undefined)) return [];
  return listOf(policies).map((policy, index) => {
    const faulty = paths.filter(([, at]) => at === index).map(([, , field]) => field);
    return selectSoundFields(policy, new Set(faulty), index);
  });
}
