import { fields, type Kind, type Operator, operators, type QueryType } from '#features/explorer/fields.ts';

/** Display texts and addresses of the explorer. */

export interface Filter {
  field: string;
  operator: Operator;
  value: string;
}

/** A query, as encoded in the page's URL. */
export interface Question {
  type: QueryType;
  filters: Filter[];
  /** Field to sort by, with a leading `-` for descending; empty: unsorted. */
  sort: string;
}

export const typeNames: Record<QueryType, string> = {
  workspaces: 'Workspaces',
  tf_versions: 'Terraform versions',
  providers: 'Providers',
  modules: 'Modules',
  resources: 'Resources',
};

/** Columns of the table; the CSV file has all fields. */
export const columns: Record<QueryType, readonly string[]> = {
  workspaces: [
    'workspace_name',
    'project_name',
    'current_run_display',
    'workspace_terraform_version',
    'resource_count',
    'drifted',
    'providers',
    'tags',
  ],
  tf_versions: ['version', 'workspace_count', 'workspaces'],
  providers: ['name', 'version', 'source', 'registry_type', 'workspace_count', 'workspaces'],
  modules: ['name', 'version', 'source', 'registry_type', 'workspace_count', 'workspaces'],
  resources: ['address', 'provider_type', 'module_name', 'workspace_name', 'project_name', 'source_updated_at'],
};

/** Columns with short values; the others share the rest of the width. */
export const isNarrow = (field: string): boolean =>
  /^(?:drifted|registry_type|resource_count|source_updated_at|version|workspace_count|workspace_terraform_version)$/.test(
    field,
  );

const names: Record<string, string> = {
  workspace_name: 'Workspace',
  project_name: 'Project',
  current_run_display: 'Run',
  workspace_terraform_version: 'Terraform',
  resource_count: 'Resources',
  provider_type: 'Type',
  module_name: 'Module',
  source_updated_at: 'Last changed',
  workspace_count: 'Workspaces',
  workspaces: 'Names',
  registry_type: 'Registry',
};

/** `current_run_status` → `Current run status` */
const plainName = (field: string): string => {
  const text = field.replaceAll('_', ' ').replace('external id', 'ID').replace('rum', 'RUM').replace('vcs', 'VCS');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

export const headingOf = (field: string): string => names[field] ?? plainName(field);
export const fieldName = plainName;

export const operatorNames: Record<Operator, string> = {
  is: 'is',
  is_not: 'is not',
  contains: 'contains',
  does_not_contain: 'does not contain',
  is_empty: 'is empty',
  is_not_empty: 'is not empty',
  gt: 'is more than',
  lt: 'is less than',
  gteq: 'is at least',
  lteq: 'is at most',
  is_before: 'is before',
  is_after: 'is after',
};

const kinds = (type: QueryType): Record<string, Kind> => fields[type];

export const fieldsIn = (type: QueryType): string[] => Object.keys(kinds(type));
export const kindOf = (type: QueryType, field: string): Kind => kinds(type)[field] ?? 'text';
export const operatorsOf = (type: QueryType, field: string): readonly Operator[] => operators[kindOf(type, field)];
export const takesValue = (operator: Operator): boolean => !operator.endsWith('_empty');

const isType = (text: string): text is QueryType => Object.hasOwn(fields, text);

/** Drops invalid parts: the address is untrusted. */
export const questionIn = (type: string, filters: string, sort: string): Question => {
  const knownType = isType(type) ? type : 'workspaces';
  return { type: knownType, filters: filtersIn(knownType, filters), sort: sortIn(knownType, sort) };
};

const sortIn = (type: QueryType, sort: string): string =>
  Object.hasOwn(kinds(type), sort.replace(/^-/, '')) ? sort : '';

const filtersIn = (type: QueryType, text: string): Filter[] => {
  try {
    const parsed: unknown = JSON.parse(text || '[]');
    return Array.isArray(parsed) ? parsed.filter((filter): filter is Filter => isFilter(type, filter)) : [];
  } catch {
    return [];
  }
};

const isFilter = (type: QueryType, filter: Partial<Filter> | null): boolean =>
  typeof filter?.field === 'string' &&
  Object.hasOwn(kinds(type), filter.field) &&
  operatorsOf(type, filter.field).includes(filter.operator as Operator) &&
  typeof filter.value === 'string';

/** Completed filters. */
const finished = ({ filters }: Question): Filter[] =>
  filters.filter(({ operator, value }) => !takesValue(operator) || value !== '');

export const parametersOf = (question: Question): URLSearchParams => {
  const parameters = new URLSearchParams({ type: question.type });
  for (const [i, { field, operator, value }] of finished(question).entries()) {
    parameters.set(`filter[${i}][${field}][${operator}][0]`, takesValue(operator) ? value : 'true');
  }
  if (question.sort) parameters.set('sort', question.sort);
  return parameters;
};

/** In the format of a saved view. */
export const queryOf = (question: Question) => ({
  type: question.type,
  filter: finished(question).map(({ field, operator, value }) => ({ field, operator, value: [value] })),
  sort: question.sort ? [question.sort] : [],
});

interface SavedQuery {
  type: string;
  filter: { field: string; operator: string; value: string[] }[];
  sort: string[];
}

export const questionOf = ({ type, filter, sort }: SavedQuery): Question => {
  const filters = filter.map(({ field, operator, value }) => ({ field, operator, value: value[0] ?? '' }));
  return questionIn(type, JSON.stringify(filters), sort[0] ?? '');
};
