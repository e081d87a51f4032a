import type { Column } from './column.ts';

/** A text column that is always shown. */
export function column(name: string, description: string): Column {
  return { name, type: 'string', format: '', description, priority: 0 };
}

/** A text column that only `-o wide` shows. */
export function wideColumn(name: string, description: string): Column {
  return { ...column(name, description), priority: 1 };
}

/** A whole number, always shown. */
export function countColumn(name: string, description: string): Column {
  return { ...column(name, description), type: 'integer' };
}

export const nameColumn: Column = {
  ...column('Name', 'Name of the object, unique among its kind and namespace.'),
  format: 'name',
};

export const ageColumn: Column = column('Age', 'Time since the object was created.');
