import type { Container, Pod } from '../../api/pod.ts';
import { parseQuantity } from '../../api/quantity.ts';

/** Resources that every node has. Others are known only to nodes whose plugins offer them. */
export const nativeResources: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * What a pod asks for, by resource: CPU in thousandths of a core, the others in their base unit. Init containers run one
 * by one before the others and need only as much as the greediest of them; sidecars go on running (upstream
 * `resourcehelper.PodRequests`).
 */
export function derivePodRequests(pod: Pod): ReadonlyMap<string, number> {
  const { containers = [], initContainers = [], overhead = {} } = pod.spec ?? {};
  const names = new Set([...containers, ...initContainers].flatMap(resourceNames));
  for (const name of Object.keys(overhead)) names.add(name);
  return new Map(
    [...names].map((name) => {
      const needed = Math.max(atStart(initContainers, name), running(containers, initContainers, name));
      return [name, needed + deriveAmount(name, overhead[name])];
    }),
  );
}

/** A quantity as whole numbers that may be compared and summed up; what is none counts as nothing. */
export function deriveAmount(resource: string, quantity: string | undefined): number {
  const number = quantity === undefined ? 0 : (parseQuantity(quantity) ?? 0);
  return Math.ceil(resource === 'cpu' ? number * 1_000 : number);
}

function resourceNames({ resources }: Container): readonly string[] {
  return Object.keys(resources?.requests ?? {});
}

function atStart(inits: readonly Container[], resource: string): number {
  let sidecars = 0;
  let peak = 0;
  for (const container of inits) {
    const request = requestOf(container, resource);
    if (container.restartPolicy === 'Always') sidecars += request;
    peak = Math.max(peak, container.restartPolicy === 'Always' ? sidecars : sidecars + request);
  }
  return peak;
}

function running(containers: readonly Container[], inits: readonly Container[], resource: string): number {
  const sidecars = inits.filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...containers, ...sidecars].reduce((sum, container) => sum + requestOf(container, resource), 0);
}

function requestOf({ resources }: Container, resource: string): number {
  return deriveAmount(resource, resources?.requests?.[resource]);
}
