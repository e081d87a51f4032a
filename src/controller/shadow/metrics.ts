import { counter, gauge, histogram } from '../../machinery/ports/meter.ts';

export const shadowMode = gauge(
  'node_lifecycle_shadow',
  '1 while the process runs in shadow mode, 0 otherwise: it writes nothing, and all other counts of actions are of what it would have done.',
);

export const shadowEpisodes = counter(
  'node_lifecycle_shadow_episodes_total',
  'Number of actions compared in shadow mode, by action and outcome: done by both at the same time, at different times, or by one of the two alone.',
  ['act', 'outcome'],
);

export const shadowDifference = histogram(
  'node_lifecycle_shadow_difference_seconds',
  'Time in seconds between the two actions where both acted, by action and by which was first.',
  [0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600],
  ['act', 'first'],
);
