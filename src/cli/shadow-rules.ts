// What shadow mode has no room for: whatever would write, and whatever it could compare with nobody.
import type { controllerFlags } from './controller-flags.ts';
import { selectControllers } from './controller-selection.ts';
import type { FlagValues } from './flag-definition.ts';

type ShadowValues = FlagValues<typeof controllerFlags>;

/** As a rule between settings: judged when none of its keys was refused by itself. */
export interface ShadowRule {
  readonly keys: readonly (keyof ShadowValues)[];
  broken(values: ShadowValues): boolean;
  text(values: ShadowValues): string;
}

/** What forbids a start. */
export const shadowRules: readonly ShadowRule[] = [
  {
    keys: ['shadow', 'leaderElect'],
    broken: (v) => v.shadow && v.leaderElect,
    text: () =>
      '--leader-elect: got true; accepted: not given, or false, with --shadow: a lease is a write, and nobody needs to lead ' +
      'where nothing is written',
  },
  {
    keys: ['shadow', 'watchCanary'],
    broken: (v) => v.shadow && v.watchCanary,
    text: () => '--watch-canary: got true; accepted: false with --shadow: the canary is a lease that is written',
  },
  {
    keys: ['shadow', 'featureGates'],
    broken: (v) => v.shadow && v.featureGates?.['TaintBasedEvictions'] === 'false',
    text: () =>
      '--feature-gates: got TaintBasedEvictions=false; accepted: true with --shadow: kube-controller-manager evicts by ' +
      'taints, and there is nothing to compare with',
  },
  {
    keys: ['shadow', 'controllers'],
    broken: (v) => v.shadow && selectControllers(v.controllers).podGc,
    text: () =>
      '--controllers: got pod-garbage-collector-controller; accepted: without it with --shadow: what it collects is not compared',
  },
];

/** Nobody is asked to lead unless somebody says so: then it is a mistake that is worth a word. */
export function withoutElection<T extends Pick<ShadowValues, 'shadow' | 'leaderElect'>>(
  values: T,
  given: ReadonlyMap<string, unknown>,
): T {
  return values.shadow && !given.has('leaderElect') ? { ...values, leaderElect: false } : values;
}
