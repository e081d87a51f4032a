import { readFileSync } from 'node:fs';
import type { ScenarioSettings } from '../../simulator/scenario/run-scenario.ts';
import { parseControllerConfig } from '../controller/config.ts';
import type { Read } from '../../machinery/yaml/yaml-text.ts';

const policySourceError =
  '--policy-source: must be file (got crd): a scenario has no NodeLifecyclePolicy objects; nlc validate FILE --output=config ' +
  'prints manifests as policies of a config file';

/** The configuration of `nlc controller` with these flags, always with leader election and with writes. */
export function settingsOf(flags: readonly string[]): Read<ScenarioSettings> {
  const parsed = parseControllerConfig(flags, (path) => readFileSync(path, 'utf8'));
  if ('problems' in parsed) return { problems: parsed.problems };
  if (parsed.config.policySource !== 'file') return { problems: [policySourceError] };
  const config = { ...parsed.config, leaderElect: true, shadow: false };
  return {
    value: {
      config,
      limits: { qps: config.kubeApiQps, burst: config.kubeApiBurst },
      shown: flags.map((flag) => flag.slice(2)),
    },
  };
}
