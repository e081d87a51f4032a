import type { Clock } from '../../machinery/ports/clock.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import type { CommandWriter, NodeSource } from './commands.ts';
import type { DecisionSink } from './decisions.ts';

/** What every stage that acts is built with. */
export interface StageDependencies {
  readonly nodes: NodeSource;
  readonly writer: CommandWriter;
  readonly decisions: DecisionSink;
  readonly meter: Meter;
  readonly clock: Clock;
}
