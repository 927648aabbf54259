/**
 * How `stepform import` and `stepform export` treat the attributes that clients may set. Each subject has such a table
 * (`attributes.ts`), which its input must match, so that no new attribute is silently left behind.
 */

export interface Moving {
  /** `copied`: unchanged; `apart`: by separate code; `initial`: only at creation; `left`: not imported. */
  import: 'copied' | 'apart' | 'initial' | 'left';
  /**
   * `copied`: an argument of the tfe provider with the attribute's name; `apart`: by separate code; `left`: the
   * provider has no argument for it, so the export contains a note.
   */
  export: 'copied' | 'apart' | 'left';
  /** With `export: 'left'`: the value that needs no note. */
  unless?: unknown;
}

export type MovingTable = Readonly<Record<string, Moving>>;

export const copied: Moving = { import: 'copied', export: 'copied' };
export const apart: Moving = { import: 'apart', export: 'apart' };
/** @param unless the value that needs no note */
export const onlyImported = (unless: unknown): Moving => ({ import: 'copied', export: 'left', unless });

export const namesFor = <K extends 'import' | 'export'>(table: MovingTable, way: K, how: Moving[K]): string[] =>
  Object.keys(table).filter((name) => table[name]?.[way] === how);
