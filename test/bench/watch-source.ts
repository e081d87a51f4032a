// A process that serves only watch streams: an initial state of a given size, then updates without limit, as fast as they
// are read.
import { createServer, type Socket } from 'node:net';
import type { Form, Kind } from './cluster-objects.ts';
import { initialBlocks, updateBlocks } from './watch-events.ts';

const firstVersion = 1_000_000_000;

function* blocks(kind: Kind, form: Form, count: number, endless: boolean): Generator<Buffer> {
  yield* initialBlocks(kind, form, count, firstVersion);
  if (endless) yield* updateBlocks(kind, form, count, firstVersion + count);
}

/** The path selects the resource: `/…/pods?…`; counts come from the command line. */
function serve(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  socket.once('data', (request: Buffer) => {
    const text = request.toString('latin1');
    const kind = (['leases', 'pods', 'nodes'] as const).find((name) => text.split('?', 1)[0]?.endsWith(name)) ?? 'pods';
    const form: Form = /accept: application\/vnd\.kubernetes\.protobuf/i.test(text) ? 'protobuf' : 'json';
    const type = form === 'json' ? 'application/json' : 'application/vnd.kubernetes.protobuf;stream=watch';
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`);
    const stream = blocks(kind, form, counts[kind], process.argv.includes('--endless'));
    const pump = (): void => {
      for (let next = stream.next(); next.done !== true; next = stream.next()) {
        if (!socket.write(next.value)) {
          socket.once('drain', pump);
          return;
        }
      }
    };
    pump();
  });
}

const counts: Record<Kind, number> = { leases: 0, pods: 0, nodes: 0 };
for (const kind of ['leases', 'pods', 'nodes'] as const) {
  counts[kind] = Number(process.argv.find((argument) => argument.startsWith(`--${kind}=`))?.split('=')[1] ?? 0);
}
const server = createServer(serve);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
process.on('disconnect', () => process.exit());
