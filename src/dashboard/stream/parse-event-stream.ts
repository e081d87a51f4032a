export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

interface ParsedStream {
  readonly events: readonly StreamEvent[];
  /** The beginning of an event whose end has not arrived. */
  readonly rest: string;
}

const blockEnd = '\n\n';

/** The complete events of a text/event-stream, whose lines end with LF. `rest`: what the last call left. */
export function parseEventStream(rest: string, chunk: string): ParsedStream {
  // A snapshot arrives in many chunks: the end can only be in the new one, or across the border.
  if (!chunk.includes('\n')) return { events: [], rest: rest + chunk };
  const blocks = (rest + chunk).split(blockEnd);
  const last = blocks.pop() ?? '';
  return { events: blocks.flatMap((block) => parseBlock(block) ?? []), rest: last };
}

/** Undefined for comments, which only show that the stream is alive. */
function parseBlock(block: string): StreamEvent | undefined {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice('event:'.length).trim();
    else if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /u, ''));
  }
  return data.length === 0 ? undefined : { event, data: data.join('\n') };
}
