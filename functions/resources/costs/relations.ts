import { Values } from './bill.ts';
import { isObject, type Json, type Plan, type PlannedResource } from './plan.ts';
import { configurationAddress } from './regions.ts';
import type { Related } from './resources/pricer.ts';

/** Finds the resource that another one refers to: by its id if known, else by the configuration. */

export type Side = 'before' | 'after';

/** Attributes by which other resources refer to this one. */
const names = ['id', 'arn', 'arn_without_revision', 'name', 'family'];
/** Attributes of blocks such as `launch_template { id = … }`. */
const identifiers = ['id', 'name'];

const place = (moduleAddress: string, rest: string): string => `${moduleAddress} ${rest}`;
const indexed = (where: string, index: string | number | undefined): string => `${where} ${JSON.stringify(index)}`;

const valuesOf = (resource: PlannedResource, side: Side): Values | undefined => {
  const values = resource[side];
  return values && new Values(values, side === 'after' ? resource.afterUnknown : {});
};

/** The name after `<type>.` in an expression, at any depth: `["aws_launch_template.web.id", …]` → `web`. */
const nameReferredTo = (expression: unknown, type: string): string | undefined => {
  const open = [expression];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string' && next.startsWith(`${type}.`)) return next.slice(type.length + 1).split(/[.[]/, 1)[0];
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) open.push(inner);
  }
  return undefined;
};

export const relationFinder = (
  plan: Plan,
  configured: Map<string, Json>,
  types: ReadonlySet<string>,
): ((resource: PlannedResource, side: Side) => Related) => {
  const byName = new Map<string, PlannedResource>();
  /** By module instance and name; undefined when several resources share both: `byIndex` distinguishes those. */
  const byPlace = new Map<string, PlannedResource | undefined>();
  const byIndex = new Map<string, PlannedResource>();
  for (const resource of plan.resources) {
    if (!types.has(resource.type)) continue;
    for (const side of ['before', 'after'] as const) {
      for (const name of names) {
        const value = resource[side]?.[name];
        if (typeof value === 'string' && value) byName.set(`${side} ${resource.type} ${value}`, resource);
      }
    }
    const where = place(resource.moduleAddress, `${resource.type}.${resource.name}`);
    byPlace.set(where, byPlace.has(where) ? undefined : resource);
    byIndex.set(indexed(where, resource.index), resource);
  }

  const named = (side: Side, type: string, value: unknown): PlannedResource | undefined => {
    if (typeof value !== 'string') return undefined;
    // A task definition can also be referred to as `family:revision`.
    return byName.get(`${side} ${type} ${value}`) ?? byName.get(`${side} ${type} ${value.replace(/:\d+$/, '')}`);
  };

  /** Names found in an expression: all instances of a resource share it. */
  const nameByExpression = new Map<unknown, string | undefined>();
  const configuredFor = (resource: PlannedResource, attribute: string, type: string): PlannedResource | undefined => {
    const expressions = configured.get(configurationAddress(resource))?.expressions;
    const expression = isObject(expressions) ? expressions[attribute] : undefined;
    if (!nameByExpression.has(expression)) nameByExpression.set(expression, nameReferredTo(expression, type));
    const name = nameByExpression.get(expression);
    if (name === undefined) return undefined;
    const where = place(resource.moduleAddress, `${type}.${name}`);
    return byPlace.get(where) ?? byIndex.get(indexed(where, resource.index));
  };

  return (resource, side) => (attribute, type) => {
    const value = resource[side]?.[attribute];
    const block = Array.isArray(value) && isObject(value[0]) ? value[0] : undefined;
    const values = block ? identifiers.map((identifier) => block[identifier]) : [value];
    const related =
      values.map((reference) => named(side, type, reference)).find((resource) => resource) ??
      configuredFor(resource, attribute, type);
    return related && valuesOf(related, side);
  };
};
