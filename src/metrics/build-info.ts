import type { Meter, MetricDefinition } from '../ports/meter.ts';

/** What runs, so that a dashboard can lay a change of behaviour beside a change of version. */
export const buildInfo: MetricDefinition = {
  name: 'node_lifecycle_controller_build_info',
  kind: 'gauge',
  help: 'Always 1; the labels say which version runs, and on which Node.js.',
  stability: 'ALPHA',
  labels: ['version', 'node_version'],
};

export interface Build {
  readonly version: string;
  readonly nodeVersion: string;
}

export function announceBuild(meter: Meter, build: Build): void {
  meter.set(buildInfo, 1, { version: build.version, node_version: build.nodeVersion });
}
