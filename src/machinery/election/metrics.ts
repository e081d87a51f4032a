import { counter, gauge } from '../ports/meter.ts';

export const masterStatus = gauge(
  'leader_election_master_status',
  '1 if this process is the leader (holds the lease of that name), 0 otherwise.',
  ['name'],
);

export const slowpathTotal = counter(
  'leader_election_slowpath_total',
  'Number of lease renewals that failed without reading the lease first and were repeated after reading it.',
  ['name'],
);
