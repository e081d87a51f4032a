import { BlockList, isIP } from 'node:net';

/** What Go's `IP.IsGlobalUnicast` excludes. IPv4 addresses that are written as IPv6 are found too. */
const excluded = new BlockList();
excluded.addAddress('0.0.0.0');
excluded.addAddress('255.255.255.255');
excluded.addSubnet('127.0.0.0', 8);
excluded.addSubnet('169.254.0.0', 16);
excluded.addSubnet('224.0.0.0', 4);
excluded.addAddress('::', 'ipv6');
excluded.addAddress('::1', 'ipv6');
excluded.addSubnet('fe80::', 10, 'ipv6');
excluded.addSubnet('ff00::', 8, 'ipv6');

/**
 * Whether requests may be forwarded to the address (upstream `isProxyableHostname`): otherwise the status of a node could lead
 * them to what the machine of the API server offers on loopback, or to the metadata of a cloud. False for a host name.
 */
export function isProxyableAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !address.includes('%') && !excluded.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
