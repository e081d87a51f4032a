import type { MetricDefinition } from '../ports/meter.ts';

export const masterStatus: MetricDefinition = {
  name: 'leader_election_master_status',
  kind: 'gauge',
  help: 'Whether this process leads: 1 while it holds the lease of that name, 0 while another does or nobody.',
  stability: 'ALPHA',
  labels: ['name'],
};

export const slowpathTotal: MetricDefinition = {
  name: 'leader_election_slowpath_total',
  kind: 'counter',
  help: 'Renewals that failed with the lease as we last saw it, so that it had to be read again.',
  stability: 'ALPHA',
  labels: ['name'],
};
