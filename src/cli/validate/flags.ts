// The flags of `nlc validate`.
import { flag, type FlagDefinition, flagGroup } from '../flags/flag-definition.ts';

export const validateFlags = [
  ...flagGroup('Output', [
    flag.text(
      'output',
      'Print the policies of the file: as NodeLifecyclePolicy manifests (crd), or as the list policies of a config file (config)',
      { choices: ['crd', 'config'] },
    ),
  ]),
] as const satisfies readonly FlagDefinition[];
