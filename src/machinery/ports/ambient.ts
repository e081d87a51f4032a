import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Meter } from './meter.ts';

/** What nearly every component needs from its surroundings. */
export interface Ambient {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}
