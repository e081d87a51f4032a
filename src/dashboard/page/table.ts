import { type ComponentChildren, h, type JSX } from 'preact';

interface TableProps {
  readonly label: string;
  /** Texts, or cells of the first row. */
  readonly heads: readonly (string | JSX.Element)[];
  /** Index of the columns with numbers; absent: no column is styled. */
  readonly numbers?: readonly number[];
  readonly rowCount?: number;
  /** Rows of the body. */
  readonly children?: ComponentChildren;
}

/** A table with one row of heads. */
export function Table({ label, heads, numbers, rowCount, children }: TableProps): JSX.Element {
  const cells = heads.map((head, index) => {
    if (typeof head !== 'string') return head;
    const style = numbers && { class: numbers.includes(index) ? 'number' : '' };
    return h('th', { key: head, scope: 'col', ...style }, head);
  });
  return h(
    'table',
    { 'aria-label': label, 'aria-rowcount': rowCount },
    h('thead', null, h('tr', null, cells)),
    h('tbody', null, children),
  );
}
