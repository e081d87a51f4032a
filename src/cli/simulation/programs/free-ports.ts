// Loopback ports for programs that cannot select a free port. Another process may take a port before it is used, so the
// caller must retry with other ports.
import { createServer, type Server } from 'node:net';

/** Different ports that were free at the time of the call. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)));
  const ports = servers.map(portOf);
  await Promise.all(servers.map(close));
  return ports;
}

/** Whether a process listens on one of the ports. */
export async function anyTaken(ports: readonly number[]): Promise<boolean> {
  const taken = await Promise.all(ports.map(isTaken));
  return taken.includes(true);
}

async function isTaken(port: number): Promise<boolean> {
  try {
    await close(await listen(port));
    return false;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return true;
    throw error;
  }
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
  });
}

/** The port of a listening server. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a listening TCP server has a port');
  return address.port;
}
