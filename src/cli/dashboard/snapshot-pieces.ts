import type { NodeCell } from '../../dashboard/protocol.ts';
import type { DashboardSource } from '../../controller/dashboard/dashboard-source.ts';

/** About 60 KB. */
const nodesPerPiece = 200;

/**
 * A snapshot as one server-sent event, in pieces: each is written when the client has read the one before, so that neither
 * this process nor its main thread is occupied by a large snapshot. What changes meanwhile is in it as before or as after its change,
 * and in the next delta. The client joins the lines of data with line ends, which JSON ignores.
 */
export function* snapshotPieces(source: DashboardSource): Generator<string> {
  const head = JSON.stringify(source.head());
  yield `event: snapshot\nid: ${source.version}\ndata: ${head.slice(0, -1)},"nodes":[\n`;
  const names = source.names();
  let separator = '';
  for (let first = 0; first < names.length; first += nodesPerPiece) {
    const cells = names.slice(first, first + nodesPerPiece).flatMap((name) => source.node(name) ?? []);
    if (cells.length > 0) yield `data: ${separator}${cells.map(toText).join(',')}\n`;
    if (cells.length > 0) separator = ',';
  }
  yield 'data: ]}\n\n';
}

function toText(cell: NodeCell): string {
  return JSON.stringify(cell);
}
