import { histogram } from '../../../machinery/ports/meter.ts';

export const statusSetterSeconds = histogram(
  'hollow_kubelet_status_setter_duration_seconds',
  'Time in seconds that an asynchronous status setter took.',
  [0.001, 0.01, 0.1, 0.5, 1, 5],
  ['setter'],
);
