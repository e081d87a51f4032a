// Draws cells. Each state has its color and its mark: a letter, or a pattern where the cell is too small for a letter.
import { describeState } from '../describe-state.ts';
import type { Palette } from '../page/theme.ts';
import type { NodeState } from '../protocol.ts';
import type { CellSize } from './plan-grid.ts';

interface Cell {
  readonly name: string;
  readonly state: NodeState;
  /** The cell is not selected by the filter of states. */
  readonly dimmed: boolean;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

const dimmedAlpha = 0.22;

export class CellPainter {
  readonly #context: CanvasRenderingContext2D;
  readonly #palette: Palette;
  readonly #size: CellSize;

  constructor(context: CanvasRenderingContext2D, palette: Palette, size: CellSize) {
    this.#context = context;
    this.#palette = palette;
    this.#size = size;
    context.textBaseline = 'middle';
  }

  /** Paints over what was there. */
  paint({ x, y }: Place, { name, state, dimmed }: Cell): void {
    const context = this.#context;
    const { width, height, text } = this.#size;
    context.fillStyle = this.#palette.background;
    context.fillRect(x, y, width, height);
    context.globalAlpha = dimmed ? dimmedAlpha : 1;
    if (text === 'name' || text === 'name and state') this.#paintNamed({ x, y }, name, state);
    else this.#paintMarked({ x, y }, state, text === 'letter');
    context.globalAlpha = 1;
  }

  #paintMarked({ x, y }: Place, state: NodeState, hasLetter: boolean): void {
    const { width, height } = this.#size;
    this.#fill({ x, y }, state, width);
    if (hasLetter) this.#paintLetter({ x: x + width / 2, y: y + height / 2 }, state);
    else paintPattern(this.#context, { x, y, size: width }, state, this.#palette);
  }

  #fill({ x, y }: Place, state: NodeState, width: number): void {
    this.#context.fillStyle = this.#palette.states[state].fill;
    this.#context.fillRect(x, y, width, this.#size.height);
  }

  /** Ready nodes have no letter: what is unusual stands out. */
  #paintLetter({ x, y }: Place, state: NodeState): void {
    if (state === 'ready') return;
    const context = this.#context;
    context.fillStyle = this.#palette.states[state].mark;
    context.font = `600 ${Math.round(this.#size.height * 0.62)}px system-ui, sans-serif`;
    context.textAlign = 'center';
    context.fillText(describeState(state).letter, x, y + 0.5);
  }

  #paintNamed({ x, y }: Place, name: string, state: NodeState): void {
    const context = this.#context;
    const { width, height } = this.#size;
    context.strokeStyle = this.#palette.line;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    this.#fill({ x, y }, state, height);
    this.#paintLetter({ x: x + height / 2, y: y + height / 2 }, state);
    context.save();
    context.beginPath();
    context.rect(x + height, y, width - height - 4, height);
    context.clip();
    context.fillStyle = this.#palette.text;
    context.textAlign = 'left';
    const hasState = this.#size.text === 'name and state';
    const middle = y + height / 2 + 0.5;
    this.#paintLine(
      { x: x + height + 8, y: hasState ? middle - 8 : middle },
      name.slice(0, 60),
      '12px ui-monospace, monospace',
    );
    if (hasState) {
      context.fillStyle = this.#palette.muted;
      this.#paintLine({ x: x + height + 8, y: middle + 8 }, describeState(state).label, '11px system-ui, sans-serif');
    }
    context.restore();
  }

  #paintLine({ x, y }: Place, text: string, font: string): void {
    this.#context.font = font;
    this.#context.fillText(text, x, y);
  }
}

interface Square extends Place {
  readonly size: number;
}

type Draw = (context: CanvasRenderingContext2D, square: Square) => void;

/** What is drawn in the color of the mark, over the fill. */
const patterns: Readonly<Record<NodeState, Draw>> = {
  ready: () => {},
  'not-ready': (context, square) => diagonal(context, square, false),
  suspect: (context, { x, y, size }) => {
    const dot = Math.max(2, Math.round(size / 3));
    const inset = Math.floor((size - dot) / 2);
    context.fillRect(x + inset, y + inset, dot, dot);
  },
  unreachable: (context, square) => {
    diagonal(context, square, false);
    diagonal(context, square, true);
  },
  tainted: (context, { x, y, size }) => context.fillRect(x, y + Math.floor(size / 2) - 1, size, 2),
  emptying: (context, { x, y, size }) => context.fillRect(x + 1, y + 1, size - 2, Math.floor(size / 2) - 1),
  maintenance: (context, { x, y, size }) => context.fillRect(x + 2, y + 2, size - 4, size - 4),
  paused: (context, { x, y, size }) => {
    const bar = Math.max(1, Math.floor(size / 5));
    context.fillRect(x + bar, y + 1, bar, size - 2);
    context.fillRect(x + size - 2 * bar, y + 1, bar, size - 2);
  },
};

/** The pattern of a state in a filled square. */
export function paintPattern(
  context: CanvasRenderingContext2D,
  square: Square,
  state: NodeState,
  palette: Palette,
): void {
  const { mark } = palette.states[state];
  context.fillStyle = mark;
  context.strokeStyle = mark;
  patterns[state](context, square);
}

function diagonal(context: CanvasRenderingContext2D, { x, y, size }: Square, isRising: boolean): void {
  context.lineWidth = Math.max(1, size / 8);
  context.beginPath();
  context.moveTo(x + 1, isRising ? y + size - 1 : y + 1);
  context.lineTo(x + size - 1, isRising ? y + 1 : y + size - 1);
  context.stroke();
}
