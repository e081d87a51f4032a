// What a signal of maintenance means for the acts of the controller, by whether its node is alive.
import type { MaintenanceRule, MaintenanceSignal, SignalMeaning } from '../model/policy.ts';

interface Meanings {
  /** The node renews its lease or sends its status. */
  readonly alive: SignalMeaning;
  readonly silent: SignalMeaning;
}

/** A signal that says that the node will be back: a taint, a condition of another tool, `MaintenanceInProgress`. */
const willBeBack: Meanings = { alive: 'hold', silent: 'hold' };

const meanings: ReadonlyMap<string, Meanings> = new Map([
  // The kubelet ends the pods in its order. What it left True when the machine went off does not say that it comes back.
  ['GracefulNodeShutdownInProgress', { alive: 'hold', silent: 'uncounted' }],
  // The pods are to go, so nothing is held.
  ['DrainInProgress', { alive: 'uncounted', silent: 'uncounted' }],
  ['Drained', { alive: 'uncounted', silent: 'uncounted' }],
  ['MaintenancePlanned', { alive: 'none', silent: 'none' }],
]);

/** What this signal means by this rule now. */
export function decideMeaning(
  { kind, name }: Pick<MaintenanceSignal, 'kind' | 'name'>,
  { holdsWhileSilent = [] }: Pick<MaintenanceRule, 'holdsWhileSilent'>,
  isAlive: boolean,
): SignalMeaning {
  if (kind === 'taint') return 'hold';
  if (!isAlive && holdsWhileSilent.includes(name)) return 'hold';
  const { alive, silent } = meanings.get(name) ?? willBeBack;
  return isAlive ? alive : silent;
}
