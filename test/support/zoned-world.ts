import type { ControllerOptions, ControllerSelection } from '../../src/controller/model/options.ts';
import { ControllerWorld } from './controller-world.ts';

export const names = (count: number, prefix = 'n'): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);

/** Zone to size: nodes `<zone>-0`, `<zone>-1` and so on, all renewing their leases. */
export function aZonedWorld(
  sizes: Readonly<Record<string, number>>,
  options: Partial<ControllerOptions> = {},
  controllers: Partial<ControllerSelection> = {},
): ControllerWorld {
  const world = new ControllerWorld(options, controllers);
  for (const [zone, size] of Object.entries(sizes)) world.addNodes(names(size, `${zone}-`), { zone });
  return world;
}

/** Nodes `n0`, `n1` and so on, without a zone or spread over zones `z0`, `z1` and so on, all renewing their leases. */
export function aWorldOf(count: number, zones = 0, options: Partial<ControllerOptions> = {}): ControllerWorld {
  const world = new ControllerWorld(options);
  world.addNodes(names(count), (place) => (zones === 0 ? {} : { zone: `z${place % zones}` }));
  return world;
}
