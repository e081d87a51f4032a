import { counter } from '../../machinery/ports/meter.ts';

export const probeRounds = counter(
  'node_lifecycle_probe_rounds_total',
  'Rounds of probes of nodes without heartbeats, by result: answered, no-answer, path-suspect (nodes that are alive do not answer either), never-answered (nor before) or not-asked. By leader and standbys; with detection of a policy.',
  ['result'],
);

export const earlyDetections = counter(
  'node_lifecycle_early_detections_total',
  'Number of nodes of the policy that became silent by probes before their grace period, by end: confirmed, no heartbeat came within it either; heartbeat, one came, so the detection was wrong; withdrawn, neither.',
  ['policy', 'end'],
);

export const earlySeconds = counter(
  'node_lifecycle_early_detection_saved_seconds_total',
  'Seconds by which confirmed early detections of the policy came before the end of the grace period.',
  ['policy'],
);
