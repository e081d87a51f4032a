import type { ControllerOptions } from '../../src/controller/options.ts';
import { ControllerWorld } from './controller-world.ts';

export const names = (count: number, prefix = 'n'): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);

/** Zone to size: nodes `<zone>-0`, `<zone>-1` and so on, all renewing their leases. */
export function aZonedWorld(
  sizes: Readonly<Record<string, number>>,
  options: Partial<ControllerOptions> = {},
): ControllerWorld {
  const world = new ControllerWorld(options);
  for (const [zone, size] of Object.entries(sizes)) {
    for (const name of names(size, `${zone}-`)) world.addNode(name, { zone });
    world.renewing(...names(size, `${zone}-`));
  }
  return world;
}
