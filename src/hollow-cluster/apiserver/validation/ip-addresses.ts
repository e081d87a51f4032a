/** Forms of IP addresses. */

const octet = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const ipv4 = new RegExp(`^${octet}(\\.${octet}){3}$`);
const group = /^[0-9a-f]{1,4}$/i;

export function isIpv4(text: string): boolean {
  return ipv4.test(text);
}

export function isIpv6(text: string): boolean {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0 || !text.includes(':')) return false;
  const groups = [head, tail ?? ''].flatMap((part) => (part === '' ? [] : part.split(':')));
  const last = groups.at(-1) ?? '';
  // The last two groups may be an IPv4 address.
  const isMixed = isIpv4(last);
  const count = groups.length + (isMixed ? 1 : 0);
  const wellFormed = (isMixed ? groups.slice(0, -1) : groups).every((part) => group.test(part));
  return wellFormed && (tail === undefined ? count === 8 : count < 8);
}

export function isIp(text: string): boolean {
  return isIpv4(text) || isIpv6(text);
}
