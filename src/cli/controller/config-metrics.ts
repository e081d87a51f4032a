import { counter, gauge } from '../../machinery/ports/meter.ts';

export const configReloadsTotal = counter(
  'node_lifecycle_config_reloads_total',
  'Number of reloads of the config file, by result: failure if it could not be read or was invalid. Only with --config.',
  ['result'],
);

export const configLastReloadSuccessful = gauge(
  'node_lifecycle_config_last_reload_successful',
  '1 if the last reload of the config file succeeded, 0 if it failed and the previous settings stay in effect. Only with --config.',
);

export const configLastReloadSuccess = gauge(
  'node_lifecycle_config_last_reload_success_timestamp_seconds',
  'Unix time in seconds of the last successful reload of the config file. Only with --config.',
);

export const configSettingsWaiting = gauge(
  'node_lifecycle_config_settings_awaiting_restart',
  'Number of settings whose value in the config file takes effect only after a restart. Only with --config.',
);
