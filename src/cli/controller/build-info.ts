import type { Meter, MetricDefinition } from '../../machinery/ports/meter.ts';

/** Build information, so that a dashboard can relate a change of behaviour to a change of version. */
export const buildInfo: MetricDefinition = {
  name: 'node_lifecycle_controller_build_info',
  kind: 'gauge',
  help: 'Always 1, labeled by version and Node.js version.',
  stability: 'ALPHA',
  labels: ['version', 'node_version'],
};

export function announceBuild(meter: Meter, build: { readonly version: string; readonly nodeVersion: string }): void {
  meter.set(buildInfo, 1, { version: build.version, node_version: build.nodeVersion });
}
