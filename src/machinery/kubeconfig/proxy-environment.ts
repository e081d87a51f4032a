// The proxy configured in the environment, as Go programs read it (golang.org/x/net/http/httpproxy), so that a working
// kubectl environment works here.
import { ownValue } from '../api/json-map.ts';
import { BlockList, isIP } from 'node:net';

type Environment = Readonly<Record<string, string | undefined>>;

/** A proxy, and the variable that configured it. */
interface NamedProxy {
  readonly variable: string;
  readonly url: string;
}

/**
 * The proxy for this server; undefined for none. `HTTPS_PROXY` or `HTTP_PROXY` by the server's scheme, upper case before
 * lower; hosts in `NO_PROXY` and loopback addresses are reached directly.
 */
export function proxyFromEnvironment(server: URL, environment: Environment): NamedProxy | undefined {
  const named = firstOf(environment, server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (named === undefined || isLoopback(hostOf(server))) return undefined;
  const exceptions = firstOf(environment, 'NO_PROXY')?.value ?? '';
  if (exceptions.split(',').some((entry) => covers(entry.trim().toLowerCase(), server))) return undefined;
  return { variable: named.variable, url: withScheme(named.value) };
}

function firstOf(environment: Environment, upper: string): { variable: string; value: string } | undefined {
  for (const variable of [upper, upper.toLowerCase()]) {
    const value = ownValue(environment, variable)?.trim() ?? '';
    if (value !== '') return { variable, value };
  }
  return undefined;
}

/** `proxy:3128` means `http://proxy:3128`. */
function withScheme(value: string): string {
  return value.includes('://') ? value : `http://${value}`;
}

function isLoopback(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return inSubnet(host, '127.0.0.0/8') || host === '::1';
}

/** An entry of NO_PROXY: `*`, an address, a CIDR, `example.com` (and subdomains), `.example.com` (only subdomains); or with a port. */
function covers(entry: string, server: URL): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  const host = hostOf(server);
  if (entry.includes('/')) return inSubnet(host, entry);
  const { name, port } = splitPort(entry);
  return (port === undefined || port === portOf(server)) && namesHost(name, host);
}

function namesHost(name: string, host: string): boolean {
  if (isIP(name) !== 0 || isIP(host) !== 0) return sameAddress(name, host);
  const below = name.startsWith('*.') ? name.slice(1) : name;
  return below.startsWith('.') ? host.endsWith(below) : host === below || host.endsWith(`.${below}`);
}

function splitPort(entry: string): { readonly name: string; readonly port: string | undefined } {
  if (isIP(entry) !== 0) return { name: entry, port: undefined };
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|([^:]*))(?::([0-9]+))?$/.exec(entry) ?? [];
  return { name: bracketed ?? plain ?? entry, port };
}

/** True if both are addresses and equal, in any notation. */
function sameAddress(a: string, b: string): boolean {
  return inSubnet(b, `${a}/${isIP(a) === 6 ? 128 : 32}`);
}

function inSubnet(host: string, cidr: string): boolean {
  const [network = '', bits = ''] = cidr.split('/');
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || !/^[0-9]+$/.test(bits)) return false;
  if (Number(bits) > (family === 6 ? 128 : 32)) return false;
  const type = family === 6 ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), type);
  return list.check(host, type);
}

function hostOf({ hostname }: URL): string {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

function portOf({ port, protocol }: URL): string {
  if (port !== '') return port;
  return protocol === 'https:' ? '443' : '80';
}
