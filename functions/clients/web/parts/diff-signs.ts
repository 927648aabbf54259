import type { Kind } from '#clients/client/text/plan.ts';

/** Sign and name of each kind of change. */
export const signs: Record<Kind, { sign: string; tone: string; name: string; chip: string }> = {
  create: { sign: '+', tone: 'add', name: 'create', chip: 'Create' },
  update: { sign: '~', tone: 'change', name: 'update', chip: 'Update' },
  replace: { sign: '±', tone: 'replace', name: 'replace', chip: 'Replace' },
  destroy: { sign: '−', tone: 'destroy', name: 'destroy', chip: 'Destroy' },
  forget: { sign: '×', tone: 'soft', name: 'forget (not destroyed)', chip: 'Forget' },
  import: { sign: '↓', tone: 'import', name: 'import', chip: 'Import' },
  move: { sign: '→', tone: 'move', name: 'move', chip: 'Move' },
  read: { sign: '↻', tone: 'soft', name: 'read during apply', chip: 'Read' },
  same: { sign: '=', tone: 'soft', name: 'unchanged', chip: 'Unchanged' },
};
