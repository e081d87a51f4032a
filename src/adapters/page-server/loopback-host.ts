const loopbackName = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Whether this is a name of the loopback interface, without a port. */
export function isLoopback({ host }: { readonly host: string }): boolean {
  return loopbackName.test(host);
}

/**
 * Whether a `Host` header names another host than loopback. On a server that listens on loopback only, a browser sends
 * such a name for a page of another site whose name now resolves to loopback (DNS rebinding).
 */
export function isForeignHost(header: string): boolean {
  return !isLoopback({ host: header.replace(/:\d+$/, '') });
}
