import { Values } from './bill.ts';
import { isObject, type Json, type Plan, type PlannedResource } from './plan.ts';
import { configurationAddress } from './regions.ts';
import type { Related } from './resources/index.ts';

/** Which resource another one refers to: by its id where that is known, else by what the configuration says. */

export type Side = 'before' | 'after';

/** What others call a resource by. */
const names = ['id', 'arn', 'arn_without_revision', 'name', 'family'];
/** Of a block such as `launch_template { id = … }`. */
const identifiers = ['id', 'name'];

const place = (moduleAddress: string, rest: string): string => `${moduleAddress} ${rest}`;

const valuesOf = (resource: PlannedResource, side: Side): Values | undefined => {
  const values = resource[side];
  return values && new Values(values, side === 'after' ? resource.afterUnknown : {});
};

/** Reference in an expression, at any depth: `["aws_launch_template.web.id", "aws_launch_template.web"]`. */
const references = (expression: unknown): string[] => {
  const found: string[] = [];
  const open = [expression];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) open.push(...next);
    else if (isObject(next)) {
      if (Array.isArray(next.references)) found.push(...next.references.filter((one) => typeof one === 'string'));
      open.push(...Object.values(next).filter((one) => typeof one === 'object' && one !== null));
    }
  }
  return found;
};

export const relationFinder = (
  plan: Plan,
  configured: Map<string, Json>,
  types: ReadonlySet<string>,
): ((resource: PlannedResource, side: Side) => Related) => {
  const byName = new Map<string, PlannedResource>();
  const byPlace = new Map<string, PlannedResource[]>();
  for (const resource of plan.resources) {
    if (!types.has(resource.type)) continue;
    for (const side of ['before', 'after'] as const) {
      for (const name of names) {
        const value = resource[side]?.[name];
        if (typeof value === 'string' && value) byName.set(`${side} ${resource.type} ${value}`, resource);
      }
    }
    const where = place(resource.moduleAddress, `${resource.type}.${resource.name}`);
    const others = byPlace.get(where);
    if (others) others.push(resource);
    else byPlace.set(where, [resource]);
  }

  const named = (side: Side, type: string, value: unknown): PlannedResource | undefined => {
    if (typeof value !== 'string') return undefined;
    // A task definition is also called by `family:revision`.
    return byName.get(`${side} ${type} ${value}`) ?? byName.get(`${side} ${type} ${value.replace(/:\d+$/, '')}`);
  };

  const configuredFor = (resource: PlannedResource, attribute: string, type: string): PlannedResource | undefined => {
    const expressions = configured.get(configurationAddress(resource))?.expressions;
    const reference = references(isObject(expressions) ? expressions[attribute] : undefined).find((one) =>
      one.startsWith(`${type}.`),
    );
    const name = reference?.slice(type.length + 1).split(/[.[]/, 1)[0];
    const candidates = byPlace.get(place(resource.moduleAddress, `${type}.${name}`)) ?? [];
    return candidates.length === 1 ? candidates[0] : candidates.find(({ index }) => index === resource.index);
  };

  return (resource, side) => (attribute, type) => {
    const value = resource[side]?.[attribute];
    const block = Array.isArray(value) && isObject(value[0]) ? value[0] : undefined;
    const values = block ? identifiers.map((one) => block[one]) : [value];
    const found =
      values.map((one) => named(side, type, one)).find((one) => one) ?? configuredFor(resource, attribute, type);
    return found && valuesOf(found, side);
  };
};
