import type { ContainerPort, Pod } from '../../../machinery/api/pod.ts';
import { isSidecar, listInits, listRegular } from '../runtime/decide-restart.ts';

/** Binds the port on every address of the host. */
const everyAddress = '0.0.0.0';

/** A port of the host that a container takes. */
export interface HostPort {
  readonly address: string;
  /** Protocol and number, such as `TCP/80`. */
  readonly port: string;
}

/**
 * True if the pod wants a host port that another pod has: the same number and protocol, on the same address or where
 * one of the two takes it on every address (upstream `nodeports.Fits`).
 */
export function hasPortConflict(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = listHostPorts(pod);
  return wanted.length > 0 && arePortsTaken(wanted, others.flatMap(listHostPorts));
}

/** True if a wanted port is among those that other pods take. */
export function arePortsTaken(wanted: readonly HostPort[], taken: readonly HostPort[]): boolean {
  return taken.some((other) => wanted.some((each) => each.port === other.port && overlap(each.address, other.address)));
}

function overlap(a: string, b: string): boolean {
  return a === b || a === everyAddress || b === everyAddress;
}

/** Host ports of containers that run as long as the pod: init containers count only as sidecars (upstream `GetHostPorts`). */
export function listHostPorts(pod: Pod): readonly HostPort[] {
  return [...listInits(pod).filter(isSidecar), ...listRegular(pod)].flatMap(({ ports = [] }) => ports.flatMap(onHost));
}

function onHost({ hostPort = 0, hostIP, protocol }: ContainerPort): readonly HostPort[] {
  if (hostPort <= 0) return [];
  return [{ address: hostIP || everyAddress, port: `${protocol || 'TCP'}/${hostPort}` }];
}
