import { counter, gauge } from '../../machinery/ports/meter.ts';

export const dashboardClients = gauge(
  'node_lifecycle_dashboard_clients',
  'Number of clients that read the events of the dashboard.',
);

export const dashboardSnapshots = counter(
  'node_lifecycle_dashboard_snapshots_total',
  'Number of snapshots that were sent to clients of the dashboard. new: a client connected; slow: it did not read in time; changes: too much changed for one event.',
  ['reason'],
);

export const dashboardRefused = counter(
  'node_lifecycle_dashboard_refused_total',
  'Number of clients of the dashboard that were refused because as many as may be were connected.',
);
