import { badRequest } from './errors.ts';
import { type Includable, parseIncludes } from './include.ts';

/**
 * Query parameters declared by routes. Undeclared ones are rejected by name: a client would mistake a response that
 * ignores its filter for a filtered one. Names that begin with a capital letter, and names without brackets outside
 * {@link plainNames}, are ignored: go-tfe sends its own field names (`TagBindings`,
 * `SubscribableChoice[Workspace][Name]`). `page[number]` and `page[size]` are accepted everywhere: clients send them
 * with every read.
 */

/**
 * Any text, which the handler parses; one of these words; several of them, separated by commas; or paths to include.
 */
type Rule = 'text' | { one: readonly string[] } | { some: readonly string[] } | Includable<string>;

/** Parameters without brackets. Routes that do not declare them reject them. */
const plainNames = [
  'archive',
  'fields',
  'category',
  'identifier',
  'include',
  'include_inactive',
  'module_version',
  'name',
  'oauth_token_id',
  'organization_name',
  'provider',
  'q',
  'scope',
  'search',
  'show_only_configured',
  'since',
  'sort',
  'token',
  'type',
  'workspace_id',
] as const;

/** `[*]` matches any number or name. A declared name has `[*]` in all brackets, or in the last but one only. */
export type QueryParameters = { [N in (typeof plainNames)[number] | `${string}[${string}]`]?: Rule };

export const flag: Rule = { one: ['true', 'false'] };

const paging: QueryParameters = { 'page[number]': 'text', 'page[size]': 'text' };

/**
 * The declared form of a name: `filter[tagged][0][key]` → `filter[tagged][*][key]`, `filter[0][status]` →
 * `filter[*][status]`. If the form with `[*]` throughout is declared, it takes precedence.
 */
const generic = (name: string, parameters: QueryParameters): string => {
  if (Object.hasOwn(parameters, name)) return name;
  const open = name.replaceAll(/\[[^[\]]*\]/g, '[*]');
  return Object.hasOwn(parameters, open) ? open : name.replace(/\[[^[\]]*\](?=\[[^[\]]*\]$)/, '[*]');
};

const ruleOf = (name: string, parameters: QueryParameters): Rule | undefined => {
  const rules: Record<string, Rule | undefined> = parameters;
  const key = generic(name, parameters);
  return Object.hasOwn(rules, key) ? rules[key] : undefined;
};

const isOption = (name: string): boolean =>
  !/^[A-Z]/.test(name) && (name.includes('[') || (plainNames as readonly string[]).includes(name));

const unknown = (name: string, parameters: QueryParameters) => {
  const shown = name.slice(0, 100);
  // Clients match these words.
  const problem =
    name === 'include'
      ? 'Invalid include parameter: nothing can be included in this response.'
      : `Unknown query parameter ${shown}.`;
  return badRequest(`${problem} Known: ${[...Object.keys(parameters), ...Object.keys(paging)].join(', ')}.`, shown);
};

const checkValue = (name: string, value: string, rule: Rule): void => {
  if (rule === 'text') return;
  if ('paths' in rule) {
    parseIncludes(value, rule.paths);
    return;
  }
  const values = 'one' in rule ? rule.one : rule.some;
  const words = 'one' in rule ? [value] : value.split(',').map((word) => word.trim());
  if (words.every((word) => word === '' || values.includes(word))) return;
  const must = 'one' in rule ? 'must be one of' : 'must be a comma-separated list of';
  throw badRequest(`${name} ${must} ${values.join(', ')}.`, name);
};

/**
 * Checks that each parameter is declared, valid and not repeated. A parameter without a value is ignored. Routes
 * check this first, so that a rejected request changes nothing.
 * @throws {ApiError} 400 that names the parameter
 */
export const checkParameters = (query: URLSearchParams, parameters: QueryParameters): void => {
  const checked = new Set<string>();
  for (const [name, value] of query) {
    if (value === '') continue;
    const rule = ruleOf(name, parameters) ?? ruleOf(name, paging);
    if (rule === undefined && !isOption(name)) continue;
    if (rule === undefined) throw unknown(name, parameters);
    if (checked.has(name))
      throw badRequest(`${name.slice(0, 100)} is set more than once. Send it once.`, name.slice(0, 100));
    checked.add(name);
    checkValue(name, value, rule);
  }
};

/** The entries of a list in one parameter; empty ones are left out. */
export const commaSeparated = (text: string | null): string[] =>
  (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
