import type { ControllerOptions } from '../model/options.ts';

/**
 * The same options with the shortest monitor grace period of all policies: a stale watch must be detected before it
 * counts against any node.
 */
export function selectShortestGrace(options: ControllerOptions): ControllerOptions {
  const graces = options.policies.flatMap(({ nodeMonitorGracePeriodMs }) => nodeMonitorGracePeriodMs ?? []);
  const shortestMs = Math.min(options.nodeMonitorGracePeriodMs, ...graces);
  return shortestMs === options.nodeMonitorGracePeriodMs
    ? options
    : { ...options, nodeMonitorGracePeriodMs: shortestMs };
}
