import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Clock } from '../ports/clock.ts';

/** Credentials are replaced this long before they expire. */
export const pluginLeewayMs = 10_000;
/** A plugin that takes longer is ended: nobody can log in while it hangs. */
export const pluginMsMax = 60_000;
const outputBytesMax = 1024 * 1024;

/** The `exec` part of a kubeconfig's user. */
export interface ExecSettings {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What the plugin may know of the cluster; undefined unless the kubeconfig says `provideClusterInfo`. */
  readonly cluster: Readonly<Record<string, unknown>> | undefined;
}

/** What a plugin hands out; a field that it does not mention is undefined. */
export interface PluginCredential {
  readonly token: string | undefined;
  readonly certPem: string | undefined;
  readonly keyPem: string | undefined;
  /** Wall time; undefined: for as long as the process lives. */
  readonly expiresAtMs: number | undefined;
}

/**
 * A command that prints credentials (`client.authentication.k8s.io`). Run once for all who wait; its answer is kept until
 * ten seconds before it expires, or until the server refuses it.
 */
export class ExecPlugin {
  readonly #settings: ExecSettings;
  readonly #clock: Clock;
  #credential: PluginCredential | undefined;
  #running: Promise<PluginCredential> | undefined;

  constructor(settings: ExecSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Rejects where the command fails, takes too long, or prints no credential. */
  async current(): Promise<PluginCredential> {
    if (this.#credential !== undefined && this.#isFresh(this.#credential)) return this.#credential;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** The server did not accept this token, or none. Unless another one is in use by now, the command is run again. */
  refused(token: string | undefined): void {
    if (token === this.#credential?.token) this.#credential = undefined;
  }

  #isFresh({ expiresAtMs = Infinity }: PluginCredential): boolean {
    return this.#clock.nowMs() < expiresAtMs - pluginLeewayMs;
  }

  async #run(): Promise<PluginCredential> {
    const over = new AbortController();
    const patience = this.#clock.sleep(pluginMsMax, over.signal).then(() => over.abort());
    try {
      this.#credential = readCredential(await this.#output(over.signal));
      return this.#credential;
    } catch (error) {
      throw over.signal.aborted ? new Error(`the plugin was ended after ${pluginMsMax} ms`, { cause: error }) : error;
    } finally {
      over.abort();
      await patience;
    }
  }

  async #output(signal: AbortSignal): Promise<string> {
    const { command, args, env } = this.#settings;
    const { stdout } = await promisify(execFile)(command, [...args], {
      env: { ...process.env, KUBERNETES_EXEC_INFO: this.#info(), ...env },
      signal,
      killSignal: 'SIGKILL',
      maxBuffer: outputBytesMax,
    });
    return stdout;
  }

  #info(): string {
    const { apiVersion, cluster } = this.#settings;
    const about = cluster === undefined ? {} : { cluster };
    return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec: { interactive: false, ...about } });
  }
}

function readCredential(output: string): PluginCredential {
  const printed: unknown = JSON.parse(output);
  const status = isRecord(printed) ? printed['status'] : undefined;
  if (!isRecord(status)) throw new Error('the plugin printed no status');
  const credential = {
    token: textOf(status['token']),
    certPem: textOf(status['clientCertificateData']),
    keyPem: textOf(status['clientKeyData']),
    expiresAtMs: timeOf(status['expirationTimestamp']),
  };
  if (credential.token !== undefined || credential.certPem !== undefined) return credential;
  throw new Error('the plugin printed neither a token nor a certificate');
}

/** Undefined where it is missing or no time: then the answer is good until it is refused. */
function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.trim() : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
