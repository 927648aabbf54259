import { createHash } from 'node:crypto';
import type { Resource } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import type { Row } from './fields.ts';
import { columnsOf, type Query } from './query.ts';
import type { View } from './views.ts';

const dashed = (name: string): string => name.replaceAll('_', '-');

/** Id of a row, stable across pages and requests. */
const rowId = (row: Row): string => {
  const { external_id, workspace_external_id, address, source, version } = row;
  if (typeof external_id === 'string') return external_id;
  const parts = [workspace_external_id, address, source, version];
  return `row-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)}`;
};

/** HCP API: explorer, execute a query. All rows have this type, regardless of the query's type. */
export const rowDocument = (row: Row, query: Query): Resource => ({
  id: rowId(row),
  type: 'visibility-workspace',
  attributes: Object.fromEntries(columnsOf(query).map((name) => [dashed(name), row[name] ?? null])),
});

/** HCP API: explorer, saved views. */
export const viewDocument = ({ id, organization, name, query, createdAt }: View): Resource => ({
  id,
  type: 'explorer-saved-queries',
  attributes: {
    name,
    'created-at': createdAt,
    'query-type': query.type,
    query: {
      type: query.type,
      filter: query.filters.map(({ field, operator, value }) => ({ field, operator, value: [value] })),
      fields: query.fields,
      sort: query.sort,
    },
  },
  links: { self: `/api/v2/organizations/${nameOf(organization)}/explorer/views/${id}` },
});
