import { h, type JSX } from 'preact';

/** The value of the field that an event is about. */
export function fieldValue(event: Event): string {
  const field = event.currentTarget;
  return field instanceof HTMLInputElement || field instanceof HTMLSelectElement ? field.value : '';
}

interface Option {
  readonly value: string;
  readonly label: string;
}

interface ChoiceProps {
  readonly label: string;
  readonly options: readonly Option[];
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

/** A choice between a few values, all of which are shown. */
export function Segments({ label, options, value, onChoose }: ChoiceProps): JSX.Element {
  return h(
    'div',
    { class: 'segments', role: 'radiogroup', 'aria-label': label },
    options.map((option) =>
      h(
        'label',
        { key: option.value, class: option.value === value ? 'segment chosen' : 'segment' },
        h('input', {
          type: 'radio',
          name: label,
          value: option.value,
          checked: option.value === value,
          onChange: () => onChoose(option.value),
        }),
        option.label,
      ),
    ),
  );
}

/** A choice between many values. */
export function Dropdown({ label, options, value, onChoose }: ChoiceProps): JSX.Element {
  return h(
    'label',
    { class: 'field' },
    h('span', null, label),
    h(
      'select',
      { value, onChange: (event: Event) => onChoose(fieldValue(event)) },
      options.map((option) => h('option', { key: option.value, value: option.value }, option.label)),
    ),
  );
}

interface SearchProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

export function Search({ label, value, onInput }: SearchProps): JSX.Element {
  return h(
    'label',
    { class: 'field' },
    h('span', null, label),
    h('input', {
      type: 'search',
      value,
      size: 16,
      spellcheck: false,
      autocomplete: 'off',
      onInput: (event: Event) => onInput(fieldValue(event)),
    }),
  );
}
