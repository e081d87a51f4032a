// Parses flags and config file into one frozen object. No other code of the controller reads flags or the environment.
import * as z from 'zod';
import { messageOf } from '../../machinery/api/api-error.ts';
import {
  type ControllerOptions,
  type ControllerSelection,
  defaultEvictionModeOptions,
} from '../../controller/model/options.ts';
import { type ConfigFile, configApiVersion, configKind, emptyFile, readConfigFile } from './config-file.ts';
import { controllerFlags, removedControllerFlags } from './flags.ts';
import {
  type ControllerValues,
  controllerWarnings,
  selectControllers,
  taintBasedEvictions,
  validateControllerValues,
  withoutElection,
} from './rules.ts';
import type { FlagDefinition } from '../flags/flag-definition.ts';
import { readValues, shapeOf } from '../flags/flag-schema.ts';
import { parseFlags } from '../flags/flags.ts';
import { buildPolicyWarnings } from '../../policy/schema/build-policy-warnings.ts';
import { fileSettingShape } from '../../policy/schema/file-settings.ts';

/** The values of the flags by option name, and the options that are computed from them. */
export interface ControllerConfig
  extends Omit<ControllerValues, 'controllers' | keyof ControllerOptions>,
    ControllerOptions {
  readonly controllers: ControllerSelection;
}

export type ConfigOutcome =
  | { readonly config: ControllerConfig; readonly values: ControllerValues; readonly warnings: readonly string[] }
  | { readonly problems: readonly string[] };

/** Returns the text of the file, or throws the error of the file system. */
type ReadFile = (path: string) => string;

/** The schema of the config file: for the chart's values and for editors. */
export const configFileSchema = z.strictObject({
  apiVersion: z.literal(configApiVersion),
  kind: z.literal(configKind),
  ...shapeOf(controllerFlags.filter((flag: FlagDefinition) => flag.onlyAsFlag !== true)),
  ...fileSettingShape,
});

/**
 * Parses the flags and the file of `--config`; flags take precedence over the file, the file over defaults. Collects all
 * problems; each names the flag or the file's key, the accepted values and the given one. Reads no other file.
 */
export function parseControllerConfig(argv: readonly string[], readFile: ReadFile): ConfigOutcome {
  const flags = parseFlags(argv, controllerFlags, removedControllerFlags);
  const file = fileNamed(flags.inputs.get('config')?.given, readFile);
  const inputs = new Map([...file.inputs, ...flags.inputs]);
  const read = readValues(controllerFlags, inputs);
  const values = { ...withoutElection(read.values, inputs), ...file.settings };
  const rules = validateControllerValues(values, read.invalid);
  const problems = [...flags.problems, ...file.problems, ...read.problems, ...rules];
  if (problems.length > 0) return { problems };
  const warnings = [...controllerWarnings(values), ...buildPolicyWarnings(values.policies)];
  return { config: configOf(values), values, warnings };
}

/** The frozen configuration of these values, which must satisfy all constraints. */
export function configOf(values: ControllerValues): ControllerConfig {
  return deepFreeze(assemble(values));
}

function fileNamed(path: unknown, readFile: ReadFile): ConfigFile {
  if (typeof path !== 'string') return emptyFile();
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    return emptyFile([`${path}: cannot read: ${messageOf(error)}`]);
  }
  return readConfigFile(path, text, controllerFlags);
}

function assemble(values: ControllerValues): ControllerConfig {
  return {
    ...values,
    controllers: selectControllers(values.controllers),
    leaseConfirmationHoldMs: holdMs(values.leaseConfirmationHoldMs),
    staleWatchHoldMs: holdMs(values.staleWatchHoldMs),
    taintBasedEvictions: taintBasedEvictions(values.featureGates),
    podEvictionTimeoutMs: values.podEvictionTimeoutMs ?? defaultEvictionModeOptions.podEvictionTimeoutMs,
  };
}

/** A negative hold means no limit. */
function holdMs(givenMs: number): number {
  return givenMs < 0 ? Number.POSITIVE_INFINITY : givenMs;
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null) deepFreeze(part);
  }
  return Object.freeze(value);
}
