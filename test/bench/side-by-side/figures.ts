// What was measured of one controller: a value of each window for each row.
import { assessSaturation, type LoadLimits } from './assess-saturation.ts';
import type { LoadFigures } from './load-protocol.ts';
import type { RowId } from './rows.ts';

export interface RowFigures {
  readonly values: readonly number[];
  /** Why the row cannot be reported; empty: it can. */
  readonly problems: readonly string[];
}

export type Figures = Readonly<Partial<Record<RowId, RowFigures>>>;

type RowValues = Readonly<Partial<Record<RowId, number>>>;

/** Collects the values window by window. */
export class FigureCollector {
  readonly #rows = new Map<RowId, { values: number[]; problems: string[] }>();
  readonly #loads: LoadFigures[] = [];

  /** Adds a window; one with a saturated load makes its rows unreportable. */
  add(values: RowValues, load?: LoadFigures, limits?: LoadLimits): void {
    if (load !== undefined) this.#loads.push(load);
    const problems = load === undefined || limits === undefined ? [] : assessSaturation(load, limits);
    for (const [id, value] of Object.entries(values) as [RowId, number][]) {
      const row = this.#rows.get(id) ?? { values: [], problems: [] };
      row.values.push(value);
      row.problems.push(...problems);
      this.#rows.set(id, row);
    }
  }

  figures(): Figures {
    return Object.fromEntries(this.#rows);
  }

  /** The load of all windows in which it was observed. */
  loads(): readonly LoadFigures[] {
    return [...this.#loads];
  }
}
