// The port-forward of a kubelet over a WebSocket with the protocol v4.channel.k8s.io (k8s.io/cri-streaming
// `portforward/websocket.go`): a data channel and an error channel, each of which begins with the port in little endian.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const protocol = 'v4.channel.k8s.io';
const handshakeId = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const [dataChannel, errorChannel] = [0, 1];

/** Answers the handshake, and connects the channels to the port on loopback. */
export function servePortForward(request: IncomingMessage, socket: Duplex, port: number): void {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  if (!offered.includes(protocol)) return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
  const key = `${request.headers['sec-websocket-key'] ?? ''}${handshakeId}`;
  const accept = createHash('sha1').update(key).digest('base64');
  const headers = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`];
  const lines = ['HTTP/1.1 101 Switching Protocols', ...headers, `Sec-WebSocket-Protocol: ${protocol}`, '', ''];
  socket.write(lines.join('\r\n'));
  forward(socket, port);
}

function forward(socket: Duplex, port: number): void {
  const send = (channel: number, bytes: Buffer): void =>
    void socket.write(frame(opcodes.binary, Buffer.concat([Buffer.of(channel), bytes])));
  const portBytes = Buffer.of(port & 0xff, port >> 8);
  send(dataChannel, portBytes);
  send(errorChannel, portBytes);
  const target = connect({ host: '127.0.0.1', port });
  const end = (): void => void (socket.writable && socket.end(frame(opcodes.close, Buffer.of(3, 232))));
  target.on('data', (bytes: Buffer) => send(dataChannel, bytes));
  target.on('error', (error) =>
    send(errorChannel, Buffer.from(`error forwarding port ${port} to pod: ${error.message}`)),
  );
  target.on('close', end);
  socket.on('error', () => target.destroy());
  socket.on('close', () => target.destroy());
  readFrames(socket, (opcode, content) => receive(opcode, content, { socket, target, end }));
}

interface Ends {
  readonly socket: Duplex;
  readonly target: Socket;
  readonly end: () => void;
}

function receive(opcode: number, content: Buffer, { socket, target, end }: Ends): void {
  if (opcode === opcodes.close) {
    target.destroy();
    end();
  } else if (opcode === opcodes.ping) socket.write(frame(opcodes.pong, content));
  else if (opcode === opcodes.binary && content[0] === dataChannel) target.write(content.subarray(1));
}

/** Unmasked, as servers send them. */
function frame(opcode: number, content: Buffer): Buffer {
  const head = [0x80 | opcode];
  if (content.length < 126) head.push(content.length);
  else if (content.length < 0x1_0000) head.push(126, content.length >> 8, content.length & 0xff);
  else head.push(127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (content.length >>> shift) & 0xff));
  return Buffer.concat([Buffer.from(head), content]);
}

/** Calls back with each complete frame of the client, unmasked. Frames of more than 4 GiB and fragments do not occur here. */
function readFrames(socket: Duplex, take: (opcode: number, content: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    for (let read = readFrame(rest); read !== undefined; read = readFrame(rest)) {
      rest = rest.subarray(read.length);
      take(read.opcode, read.content);
    }
  });
}

function readFrame(bytes: Buffer): { opcode: number; content: Buffer; length: number } | undefined {
  if (bytes.length < 6) return undefined;
  const short = bytes[1]! & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  const start = 2 + extra + 4;
  if (bytes.length < start) return undefined;
  const size = extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(2) : bytes.readUInt32BE(6);
  if (bytes.length < start + size) return undefined;
  const mask = bytes.subarray(start - 4, start);
  const content = Buffer.from(bytes.subarray(start, start + size).map((byte, index) => byte ^ mask[index % 4]!));
  return { opcode: bytes[0]! & 0x0f, content, length: start + size };
}
