// The input and output of a credential plugin (`client.authentication.k8s.io`). Neither is repeated in an error: both may
// contain secrets.
import { messageOf } from '../api/api-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { ExecSettings } from './exec-settings.ts';
import { runProcess } from './exec-process.ts';
import { isMap, type JsonMap, ownValue, parsedOf } from '../api/json-map.ts';
import { textField } from './credentials.ts';

/** A plugin that runs longer is terminated. */
const pluginMsMax = 60_000;
const outputBytesMax = 1024 * 1024;
const kind = 'ExecCredential';

/** The credential that a plugin returned; an absent field is undefined. */
export interface PluginCredential {
  readonly token: string | undefined;
  /** Client certificate and its key: both or neither. */
  readonly certPem: string | undefined;
  readonly keyPem: string | undefined;
  /** Wall time; undefined: valid for the lifetime of the process. */
  readonly expiresAtMs: number | undefined;
}

/** Runs the plugin once. Rejects if it fails, times out, or returns an invalid result. */
export async function obtainCredential(settings: ExecSettings, clock: Clock): Promise<PluginCredential> {
  const { command, args, env, apiVersion } = settings;
  const info = JSON.stringify(infoFor(settings));
  const spec = { command, args, env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: info } };
  const output = await runProcess(spec, { clock, msMax: pluginMsMax, outputBytesMax });
  try {
    return parseExecCredential(output, apiVersion);
  } catch (error) {
    const problem = messageOf(error);
    throw new Error(`command "${command}": ${problem}`, { cause: error });
  }
}

function infoFor({ apiVersion, cluster }: ExecSettings): JsonMap {
  const about = cluster === undefined ? {} : { cluster: cluster() };
  return { kind, apiVersion, spec: { ...about, interactive: false } };
}

/** Throws unless the output is an ExecCredential of this version with a token, a certificate and its key, or both. */
export function parseExecCredential(output: string, apiVersion: string): PluginCredential {
  const { status } = parseObject(output, apiVersion);
  if (!isMap(status)) throw new Error('its output has no status');
  const credential = {
    token: trimmed(status, 'token'),
    certPem: trimmed(status, 'clientCertificateData'),
    keyPem: trimmed(status, 'clientKeyData'),
    expiresAtMs: timeOf(status['expirationTimestamp']),
  };
  const { token, certPem, keyPem } = credential;
  if ((certPem === undefined) !== (keyPem === undefined)) {
    throw new Error('its output has a certificate without a key, or a key without a certificate');
  }
  if (token === undefined && certPem === undefined) throw new Error('its output has neither a token nor a certificate');
  return credential;
}

function parseObject(output: string, apiVersion: string): JsonMap {
  const printed = parsedOf(output);
  if (!isMap(printed)) throw new Error('its output is not a JSON object');
  for (const [field, accepted] of Object.entries({ kind, apiVersion })) {
    const value = ownValue(printed, field);
    if (value !== accepted) throw new Error(`its output has ${field} ${quoted(value)}; accepted: "${accepted}"`);
  }
  return printed;
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : 'missing';
}

/** Undefined if missing or malformed: the credential is then used until it is rejected. */
function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function trimmed(status: JsonMap, name: string): string | undefined {
  return textField(status, name)?.trim();
}
