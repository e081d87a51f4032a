/** A minimal protobuf writer for responses of an API server. */

/** One field of a message: bytes, a string, or a whole number; a negative one must be a bigint. */
export function field(id: number, value: Buffer | string | number | bigint): Buffer {
  if (typeof value === 'bigint') return Buffer.concat([varint(id << 3), bigVarint(value)]);
  if (typeof value === 'number') return Buffer.concat([varint(id << 3), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((id << 3) | 2), varint(bytes.length), bytes]);
}

export function message(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields);
}

/** An entry of a string map. */
export function entry(id: number, key: string, value: string): Buffer {
  return field(id, message(field(1, key), field(2, value)));
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80);
  bytes.push(left);
  return Buffer.from(bytes);
}

/** A 64-bit number in two's complement. */
function bigVarint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  bytes.push(Number(left));
  return Buffer.from(bytes);
}

/** `k8s\0` and the `runtime.Unknown` around an object. */
export function envelope(apiVersion: string, kind: string, object: Buffer): Buffer {
  const typeMeta = message(field(1, apiVersion), field(2, kind));
  return message(Buffer.from('k8s\0'), field(1, typeMeta), field(2, object), field(3, ''), field(4, ''));
}

/** A frame of a watch. */
export function frame(type: string, enveloped: Buffer): Buffer {
  const event = message(field(1, type), field(2, message(field(1, enveloped))));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return message(length, event);
}
