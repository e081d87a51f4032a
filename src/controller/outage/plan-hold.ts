import type { OutageArithmetic } from '../model/decisions.ts';
import { controlPlanePathFailureHoldDefaults as defaults } from '../model/options.ts';

/**
 * The longest hold for this outage in milliseconds: the configured value (0: none; negative: no limit, Infinity here).
 * The default is long where nodes of several zones, or all control-plane nodes, are silent, as these do not fail at the
 * same moment. In one zone without that evidence a power failure looks the same, and its pods must be removed from
 * their Services soon.
 */
export function planHoldMsMax(
  { zones, controlPlane }: Pick<OutageArithmetic, 'zones' | 'controlPlane'>,
  configuredMs: number | undefined,
): number {
  if (configuredMs !== undefined) return configuredMs < 0 ? Infinity : configuredMs;
  return zones > 1 || controlPlane.evidence === 'silent' ? defaults.longMs : defaults.oneZoneMs;
}
