import { counter } from '../../machinery/ports/meter.ts';

export const withheldActs = counter(
  'node_lifecycle_withheld_acts_total',
  'Number of acts that a policy in mode Observe or Detect withheld, by policy and kind of act: each kind once for each node until the node recovers or its policy changes.',
  ['policy', 'act'],
);
