// What a process sends and receives by TCP, from the kernel's count of each socket (`ss` of iproute2).
import { execFileSync } from 'node:child_process';

/** Bytes sent and received since each socket was connected, by its local and remote address. */
type SocketBytes = ReadonlyMap<string, number>;

/** Of the sockets that this process has now. */
export function socketBytes(pid: number): SocketBytes {
  return parseSockets(execFileSync('ss', ['-tinpOH'], { encoding: 'utf8' }), pid);
}

/** Parses the output of `ss -tinpOH`: a line for each socket. */
export function parseSockets(text: string, pid: number): SocketBytes {
  const lines = text.split('\n').filter((line) => line.includes(`pid=${pid},`));
  return new Map(
    lines.map((line) => {
      const [, , , local = '', remote = ''] = line.trim().split(/\s+/u);
      return [`${local} ${remote}`, numberAfter('bytes_sent', line) + numberAfter('bytes_received', line)];
    }),
  );
}

/** Bytes of sockets that are there at the end. A connection that was closed meanwhile is missing. */
export function bytesBetween(before: SocketBytes, after: SocketBytes): number {
  return [...after].reduce((sum, [socket, bytes]) => sum + bytes - (before.get(socket) ?? 0), 0);
}

function numberAfter(name: string, line: string): number {
  return Number(new RegExp(`\\b${name}:(\\d+)`, 'u').exec(line)?.[1] ?? 0);
}
