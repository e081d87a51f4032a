// Where the cell of each node is. Zones are groups with a label; small groups stand side by side.

/** Size of a cell without the gap to the next, in CSS pixels. `text`: what fits into it. Cells with names become wider where there is space. */
export interface CellSize {
  readonly width: number;
  readonly height: number;
  readonly gap: number;
  readonly text: 'name and state' | 'name' | 'letter' | 'none';
}

interface GridGroup {
  readonly zone: string;
  /** Index of its first cell; its cells are consecutive. */
  readonly first: number;
  readonly count: number;
  readonly x: number;
  /** The top of the label; the cells begin `labelHeight` below. */
  readonly y: number;
  readonly width: number;
  readonly columns: number;
}

export interface GridPlan {
  readonly cell: CellSize;
  readonly width: number;
  readonly height: number;
  readonly count: number;
  readonly groups: readonly GridGroup[];
}

interface GridSpace {
  readonly width: number;
  /** The grid is higher only if the smallest cells need it. */
  readonly height: number;
}

const labelHeight = 20;
const groupGap = 16;
const groupWidthMin = 220;
const sizes: readonly CellSize[] = [
  { width: 200, height: 40, gap: 4, text: 'name and state' },
  { width: 132, height: 24, gap: 4, text: 'name' },
  { width: 22, height: 22, gap: 3, text: 'letter' },
  { width: 18, height: 18, gap: 2, text: 'letter' },
  { width: 14, height: 14, gap: 2, text: 'letter' },
  { width: 11, height: 11, gap: 1, text: 'none' },
  { width: 9, height: 9, gap: 1, text: 'none' },
  { width: 8, height: 8, gap: 1, text: 'none' },
  { width: 7, height: 7, gap: 1, text: 'none' },
];

/** `zones`: of the cells in their order; cells of a zone are consecutive. */
export function planGrid(zones: readonly string[], space: GridSpace): GridPlan {
  const runs = groupRuns(zones);
  const fitting = sizes.find((cell) => bestPlan(cell, runs, space).height <= space.height);
  const smallest = sizes.at(-1);
  const cell = fitting ?? smallest ?? { width: 7, height: 7, gap: 1, text: 'none' };
  return bestPlan(cell, runs, space);
}

interface Run {
  readonly zone: string;
  readonly first: number;
  readonly count: number;
}

function groupRuns(zones: readonly string[]): readonly Run[] {
  const starts = zones.flatMap((zone, index) => (zone === zones[index - 1] ? [] : [index]));
  return starts.map((first, index) => ({
    zone: zones[first] ?? '',
    first,
    count: (starts[index + 1] ?? zones.length) - first,
  }));
}

/** The lowest plan, over the numbers of groups side by side. */
function bestPlan(cell: CellSize, runs: readonly Run[], { width }: GridSpace): GridPlan {
  const abreastMax = Math.max(1, Math.min(runs.length, Math.floor(width / groupWidthMin)));
  let best = planAbreast(cell, runs, width, 1);
  for (let abreast = 2; abreast <= abreastMax; abreast += 1) {
    const plan = planAbreast(cell, runs, width, abreast);
    if (plan.height < best.height) best = plan;
  }
  return best;
}

function planAbreast(cell: CellSize, runs: readonly Run[], width: number, abreast: number): GridPlan {
  const groupWidth = Math.floor((width - groupGap * (abreast - 1)) / abreast);
  const columns = Math.max(1, Math.floor((groupWidth + cell.gap) / (cell.width + cell.gap)));
  const groups: GridGroup[] = [];
  let y = 0;
  for (let start = 0; start < runs.length; start += abreast) {
    const row = runs.slice(start, start + abreast);
    row.forEach((run, index) => {
      groups.push({ ...run, x: index * (groupWidth + groupGap), y, width: groupWidth, columns });
    });
    const lines = Math.max(...row.map(({ count }) => Math.ceil(count / columns)));
    y += labelHeight + lines * (cell.height + cell.gap) + groupGap;
  }
  const count = runs.reduce((sum, run) => sum + run.count, 0);
  return { cell: widened(cell, groupWidth, columns), width, height: Math.max(0, y - groupGap), count, groups };
}

function widened(cell: CellSize, groupWidth: number, columns: number): CellSize {
  if (cell.text !== 'name' && cell.text !== 'name and state') return cell;
  return { ...cell, width: Math.max(cell.height, Math.floor((groupWidth + cell.gap) / columns) - cell.gap) };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function groupOf({ groups }: GridPlan, index: number): GridGroup | undefined {
  let [low, high] = [0, groups.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((groups[middle]?.first ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return groups[low];
}

/** The upper left corner of a cell. */
export function planCell(plan: GridPlan, index: number): Point {
  const group = groupOf(plan, index);
  if (group === undefined) return { x: 0, y: 0 };
  const { cell } = plan;
  const [column, line] = [(index - group.first) % group.columns, Math.floor((index - group.first) / group.columns)];
  return { x: group.x + column * (cell.width + cell.gap), y: group.y + labelHeight + line * (cell.height + cell.gap) };
}

/** The index of the cell at a point; undefined beside the cells. A gap belongs to the cell before it. */
export function selectCellAt(plan: GridPlan, { x, y }: Point): number | undefined {
  const pitchX = plan.cell.width + plan.cell.gap;
  const pitchY = plan.cell.height + plan.cell.gap;
  for (const group of plan.groups) {
    const [left, top] = [x - group.x, y - group.y - labelHeight];
    const column = Math.floor(left / pitchX);
    const index = Math.floor(top / pitchY) * group.columns + column;
    if (left >= 0 && top >= 0 && column < group.columns && index < group.count) return group.first + index;
  }
  return undefined;
}

/** The cell that a key moves to from a cell; undefined for other keys. At the edge it stays. */
export function selectCellByKey(plan: GridPlan, index: number, key: string): number | undefined {
  const move = (to: number): number => Math.min(Math.max(to, 0), plan.count - 1);
  switch (key) {
    case 'ArrowLeft':
      return move(index - 1);
    case 'ArrowRight':
      return move(index + 1);
    case 'Home':
      return 0;
    case 'End':
      return plan.count - 1;
    case 'ArrowUp':
      return selectVertical(plan, index, -1);
    case 'ArrowDown':
      return selectVertical(plan, index, 1);
    default:
      return undefined;
  }
}

/** One line up or down; across the border of a zone, to the nearest cell of the next group. */
function selectVertical(plan: GridPlan, index: number, direction: 1 | -1): number {
  const group = groupOf(plan, index);
  if (group === undefined) return index;
  const inside = index + direction * group.columns;
  if (inside >= group.first && inside < group.first + group.count) return inside;
  const lastLine = Math.floor((group.count - 1) / group.columns);
  const isLastLine = Math.floor((index - group.first) / group.columns) === lastLine;
  // The last line may be shorter than the one above it.
  if (direction === 1 && !isLastLine) return group.first + group.count - 1;
  const border = direction === 1 ? group.first + group.count : group.first - 1;
  return border < 0 || border >= plan.count ? index : border;
}
