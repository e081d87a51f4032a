import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Meter } from './meter.ts';

/** Ports that nearly every component uses. */
export interface Ambient {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}
