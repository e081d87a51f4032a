import type { MetricDefinition } from '../ports/meter.ts';

export const configReloadsTotal: MetricDefinition = {
  name: 'node_lifecycle_config_reloads_total',
  kind: 'counter',
  help: 'Changes of the config file that were looked at: success, or failure where it could not be read or was refused. Only with --config.',
  stability: 'ALPHA',
  labels: ['result'],
};

export const configLastReloadSuccessful: MetricDefinition = {
  name: 'node_lifecycle_config_last_reload_successful',
  kind: 'gauge',
  help: '0 while the config file cannot be read or is refused and older settings are in force, otherwise 1. Only with --config.',
  stability: 'ALPHA',
};

export const configLastReloadSuccess: MetricDefinition = {
  name: 'node_lifecycle_config_last_reload_success_timestamp_seconds',
  kind: 'gauge',
  help: 'When the config file was last taken up. Only with --config.',
  stability: 'ALPHA',
};

export const configSettingsWaiting: MetricDefinition = {
  name: 'node_lifecycle_config_settings_awaiting_restart',
  kind: 'gauge',
  help: 'Settings whose value in the config file is not in force before a restart. Only with --config.',
  stability: 'ALPHA',
};

export const configMetrics: readonly MetricDefinition[] = [
  configReloadsTotal,
  configLastReloadSuccessful,
  configLastReloadSuccess,
  configSettingsWaiting,
];
