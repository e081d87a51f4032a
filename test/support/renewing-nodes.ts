// Random nodes that renew at different intervals and have different grace periods, in a small cluster on a manual clock.
import fc from 'fast-check';
import type { NodePolicy } from '../../src/controller/model/policy.ts';
import { aPolicy } from './builders.ts';
import type { ControllerWorld } from './controller-world.ts';
import { aZonedWorld } from './zoned-world.ts';

/** Time passes in steps of this length. */
export const stepS = 2;

const aNode = fc.oneof(
  fc.record({ everyS: fc.constant(10), graceS: fc.constantFrom(12, 16, 40, 40, 40, 180), phaseS: fc.nat(4) }),
  fc.record({ everyS: fc.constant(60), graceS: fc.constantFrom(180, 240), phaseS: fc.nat(29) }),
);
export const aZone = fc.array(aNode, { minLength: 3, maxLength: 12 });
type RenewingNode = typeof aNode extends fc.Arbitrary<infer T> ? T : never;

/** Nodes by zone; in the world they are `<zone>-0`, `<zone>-1` and so on. */
type RenewingZones = Readonly<Record<string, readonly RenewingNode[]>>;

const policies: readonly NodePolicy[] = [12, 16, 180, 240].map((graceS) => {
  const selector = [{ key: 'grace', operator: 'In', values: [String(graceS)] }] as const;
  return aPolicy({ name: `grace-${graceS}`, selector, nodeMonitorGracePeriodMs: graceS * 1_000 });
});

interface Renewing {
  readonly forS: number;
  /** These send no heartbeat. */
  readonly dead?: readonly string[];
  readonly isDone?: () => boolean;
}

/** The nodes of these zones, and more zones of nodes that renew every 2 s. */
export class RenewingNodes {
  readonly world: ControllerWorld;
  readonly #zones: RenewingZones;
  #atS = 0;

  constructor(zones: RenewingZones, healthy: Readonly<Record<string, number>>) {
    this.#zones = zones;
    const sizes = Object.entries(zones).map(([zone, { length }]) => [zone, length] as const);
    this.world = aZonedWorld(
      { ...Object.fromEntries(sizes), ...healthy },
      { policies, nodeMonitorGracePeriodMs: 40_000 },
    );
    for (const { name, graceS } of this.#nodes()) {
      this.world.setLabels(name, { ...this.world.node(name).metadata.labels, grace: String(graceS) });
      this.world.goSilent(name);
    }
  }

  names(): readonly string[] {
    return [...this.#nodes()].map(({ name }) => name);
  }

  /** Whether twice the grace period of the node ends before nodes that stopped with it are overdue. */
  isHasty(node: string): boolean {
    const nodes = [...this.#nodes()];
    const graceS = nodes.find(({ name }) => name === node)?.graceS ?? NaN;
    const overdueS = Math.max(...nodes.map(({ everyS }) => 1.2 * everyS));
    return overdueS > 12 && 2 * graceS < 12 + overdueS;
  }

  *#nodes(): Iterable<RenewingNode & { readonly name: string }> {
    for (const [zone, nodes] of Object.entries(this.#zones))
      for (const [place, node] of nodes.entries()) yield { ...node, name: `${zone}-${place}` };
  }

  /** The living nodes renew at their intervals. Ends early when `isDone`. */
  async renew({ forS, dead = [], isDone = () => false }: Renewing): Promise<void> {
    for (const untilS = this.#atS + forS; this.#atS < untilS && !isDone(); this.#atS += stepS) {
      for (const { name, everyS, phaseS } of this.#nodes())
        if (!dead.includes(name) && (this.#atS - phaseS * stepS) % everyS === 0) this.world.renewOnce(name);
      await this.world.advance(stepS);
    }
  }
}
