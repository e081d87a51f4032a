// The canvas of the grid: paints a cell only if it looks different from what was painted last.
import { type NodeCell, type NodeState, nodeStates } from '../protocol.ts';
import type { Palette } from '../page/theme.ts';
import { CellPainter } from './cell-painter.ts';
import { type GridPlan, planCell } from './plan-grid.ts';

interface GridLook {
  readonly plan: GridPlan;
  readonly palette: Palette;
  readonly pixelRatio: number;
}

interface GridContent {
  readonly nodes: readonly NodeCell[];
  /** Empty: all. */
  readonly states: readonly NodeState[];
}

const codes = new Map(nodeStates.map((state, index) => [state, index + 1]));
const dimmedCode = 16;

export class GridCanvas {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  #look: GridLook | undefined;
  #painter: CellPainter | undefined;
  /** The code of what was painted, for each cell; 0: nothing. */
  #painted = new Uint8Array(0);
  #names: readonly string[] = [];
  #paintedEver = 0;

  constructor(canvas: HTMLCanvasElement) {
    const context = canvas.getContext('2d', { alpha: false });
    if (context === null) throw new Error('this browser has no 2d canvas');
    this.#canvas = canvas;
    this.#context = context;
  }

  update(look: GridLook, content: GridContent): void {
    if (!this.#hasSameLook(look)) this.#clear(look);
    this.#paintChanged(look, content);
  }

  #hasSameLook({ plan, palette, pixelRatio }: GridLook): boolean {
    const old = this.#look;
    return old !== undefined && old.plan === plan && old.palette === palette && old.pixelRatio === pixelRatio;
  }

  #clear(look: GridLook): void {
    const { plan, palette, pixelRatio } = look;
    this.#canvas.width = Math.round(plan.width * pixelRatio);
    this.#canvas.height = Math.round(Math.max(1, plan.height) * pixelRatio);
    const context = this.#context;
    context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
    context.fillStyle = palette.background;
    context.fillRect(0, 0, plan.width, plan.height);
    this.#painter = new CellPainter(context, palette, plan.cell);
    this.#painted = new Uint8Array(plan.count);
    this.#names = [];
    this.#look = look;
  }

  #paintChanged({ plan }: GridLook, { nodes, states }: GridContent): void {
    const wanted = new Set(states);
    const hasNames = plan.cell.text === 'name' || plan.cell.text === 'name and state';
    let painted = 0;
    nodes.forEach(({ name, state }, index) => {
      const dimmed = wanted.size > 0 && !wanted.has(state);
      const code = (codes.get(state) ?? 0) + (dimmed ? dimmedCode : 0);
      const isSame = this.#painted[index] === code && (!hasNames || this.#names[index] === name);
      if (isSame) return;
      this.#painter?.paint(planCell(plan, index), { name, state, dimmed });
      this.#painted[index] = code;
      painted += 1;
    });
    this.#names = nodes.map(({ name }) => name);
    this.#paintedEver += painted;
    this.#canvas.dataset['cells'] = String(nodes.length);
    this.#canvas.dataset['drawn'] = String(painted);
    this.#canvas.dataset['painted'] = String(this.#paintedEver);
  }
}
