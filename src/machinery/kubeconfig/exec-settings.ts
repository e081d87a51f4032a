// The `exec` section of a kubeconfig user, validated as in client-go (`clientcmd.validateAuthInfo`, `plugin/pkg/client/
// auth/exec`). Values of arguments and environment variables are not repeated in an error: they may be secrets.
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { ConnectionError } from './connection-error.ts';
import { isMap, type JsonMap, ownValue } from '../api/json-map.ts';
import { textField } from './credentials.ts';

const group = 'client.authentication.k8s.io';
const apiVersions: readonly string[] = [`${group}/v1`, `${group}/v1beta1`];
const interactiveModes: readonly string[] = ['Never', 'IfAvailable'];
/** The cluster extension that is passed to plugins. */
const configExtension = `${group}/exec`;

export interface ExecSettings {
  readonly apiVersion: string;
  /** A name to look up in PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Cluster information for the plugin, read at each call; undefined unless `provideClusterInfo` is true. */
  readonly cluster: (() => JsonMap) | undefined;
}

interface ExecSource {
  /** The kubeconfig, and the field path in it. */
  readonly file: string;
  readonly field: string;
  readonly exec: JsonMap;
  /** The cluster of the same context, with absolute paths. */
  readonly cluster: JsonMap;
}

/** Throws a {@link ConnectionError} that names the field, its value unless it is secret, and the accepted values. */
export function execSettings(source: ExecSource): ExecSettings {
  const { exec, cluster } = source;
  const apiVersion = acceptedText(source, 'apiVersion', apiVersions);
  checkInteractiveMode(source, apiVersion);
  return {
    apiVersion,
    command: commandOf(source),
    args: argsOf(source),
    env: environmentOf(source),
    cluster: exec['provideClusterInfo'] === true ? () => clusterInfo(cluster) : undefined,
  };
}

function acceptedText(source: ExecSource, name: string, accepted: readonly string[]): string {
  const value = ownValue(source.exec, name) ?? '';
  if (typeof value === 'string' && accepted.includes(value)) return value;
  const problem = value === '' ? 'is missing' : `${JSON.stringify(value)} is not supported`;
  throw invalidSetting(source, `.${name}`, `${problem}; accepted: ${accepted.join(', ')}`);
}

/** A plugin never gets standard input: a controller has no terminal. v1 requires the field, v1beta1 does not. */
function checkInteractiveMode(source: ExecSource, apiVersion: string): void {
  const isOptional = apiVersion.endsWith('/v1beta1') && (source.exec['interactiveMode'] ?? '') === '';
  if (!isOptional) acceptedText(source, 'interactiveMode', interactiveModes);
}

/** A name is looked up in PATH; a path is relative to the kubeconfig. */
function commandOf(source: ExecSource): string {
  const command = textField(source.exec, 'command');
  if (command === undefined) throw invalidSetting(source, '.command', 'is missing');
  return command.includes('/') && !isAbsolute(command) ? join(dirname(source.file), command) : command;
}

function argsOf(source: ExecSource): readonly string[] {
  return listOf(source, 'args').map((arg, at) => {
    if (typeof arg !== 'string') throw invalidSetting(source, `.args[${at}]`, 'is not a string');
    return arg;
  });
}

/** A list of `{name, value}`, as in the kubeconfig. */
function environmentOf(source: ExecSource): Readonly<Record<string, string>> {
  const entries = listOf(source, 'env').map((entry, at) => {
    const name = isMap(entry) ? textField(entry, 'name') : undefined;
    if (!isMap(entry) || name === undefined) throw invalidSetting(source, `.env[${at}].name`, 'is missing');
    const value = entry['value'] ?? '';
    if (typeof value !== 'string') throw invalidSetting(source, `.env[${at}].value`, 'is not a string');
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}

function listOf(source: ExecSource, name: string): readonly unknown[] {
  const list: unknown = ownValue(source.exec, name) ?? [];
  if (!Array.isArray(list)) throw invalidSetting(source, `.${name}`, 'is not a list');
  return list;
}

/** The fields of `clientauthentication.Cluster`: the CA is always data (client-go `rest.ConfigToExecCluster`). */
function clusterInfo(cluster: JsonMap): JsonMap {
  const fields = {
    server: cluster['server'],
    'tls-server-name': textField(cluster, 'tls-server-name'),
    'insecure-skip-tls-verify': trueOrUndefined(cluster['insecure-skip-tls-verify']),
    'certificate-authority-data': authorityData(cluster),
    'proxy-url': textField(cluster, 'proxy-url'),
    'disable-compression': trueOrUndefined(cluster['disable-compression']),
    config: extensionOf(cluster),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function trueOrUndefined(value: unknown): true | undefined {
  return value === true ? true : undefined;
}

function authorityData(cluster: JsonMap): string | undefined {
  const file = textField(cluster, 'certificate-authority');
  const data = textField(cluster, 'certificate-authority-data');
  return data ?? (file === undefined ? undefined : readFileSync(file).toString('base64'));
}

function extensionOf({ extensions }: JsonMap): unknown {
  const list: readonly unknown[] = Array.isArray(extensions) ? extensions : [];
  return list.filter(isMap).find(({ name }) => name === configExtension)?.['extension'];
}

function invalidSetting({ file, field }: ExecSource, name: string, problem: string): ConnectionError {
  return new ConnectionError({ file, field: `${field}${name}` }, problem);
}
