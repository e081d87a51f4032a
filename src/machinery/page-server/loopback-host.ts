const loopbackName = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Whether this is a name of the loopback interface, without a port. */
export function isLoopback({ host }: { readonly host: string }): boolean {
  return loopbackName.test(host);
}
