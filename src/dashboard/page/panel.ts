import { type ComponentChildren, h, type JSX } from 'preact';

interface PanelProps {
  readonly id: string;
  readonly title: string;
  /** Beside the title. */
  readonly note?: string;
  /** Controls at the end of the line of the title. */
  readonly controls?: ComponentChildren;
  readonly className?: string;
  readonly children?: ComponentChildren;
}

/** A section of the page: a region with a heading, which links lead to. */
export function Panel({ id, title, note, controls, className = '', children }: PanelProps): JSX.Element {
  return h(
    'section',
    { id, class: `panel ${className}`, 'aria-labelledby': `${id}-title` },
    h(
      'div',
      { class: 'panel-head' },
      h('h2', { id: `${id}-title`, tabIndex: -1 }, title),
      h('p', { class: 'panel-note' }, note ?? ''),
      controls === undefined ? null : h('div', { class: 'panel-controls' }, controls),
    ),
    children,
  );
}

interface ScrollAreaProps {
  readonly label: string;
  readonly className?: string;
  readonly children?: ComponentChildren;
}

/** What may be longer than its place; it can be focused, so that keys scroll it. */
export function ScrollArea({ label, className = '', children }: ScrollAreaProps): JSX.Element {
  return h('div', { class: `scroll ${className}`, role: 'group', 'aria-label': label, tabIndex: 0 }, children);
}
