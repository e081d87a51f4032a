// Loopback ports for programs that cannot pick one themselves. Between asking and using somebody else may take a port:
// whoever starts a program must be ready to ask again.
import { createServer, type Server } from 'node:net';

/** Ports that were free a moment ago, all different. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)));
  const ports = servers.map(portOf);
  await Promise.all(servers.map(close));
  return ports;
}

/** Whether somebody listens on one of the ports now. */
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

/** The port of a server that listens. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a listening TCP server has a port');
  return address.port;
}
