import { isDeepStrictEqual } from 'node:util';
import { isExactNumber } from '#platform/formats/exact-json.ts';
import { marksAny, Secrets, valueAt } from '#platform/formats/marks.ts';
import { dependenciesOf } from './dependencies.ts';
import type { Change, PlanJson, ResourceChange } from './plan-json.ts';
import { changedTypes, type SchemasJson, usedSchemas } from './schemas.ts';

/**
 * The plan without sensitive values: everything that `terraform plan` prints, for readers who cannot see them. The
 * renderer compares `before` with `after` even where it prints "(sensitive value)", and uses the schema's types. So a
 * placeholder has the type of the value, and both sides get the same placeholder only if they were equal.
 */

type Json = Record<string, unknown>;
type Side = 'before' | 'after';

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);

const isCollection = (value: unknown): boolean => Array.isArray(value) || isObject(value);

/** Placeholder for a value; `changed` marks the one on the `after` side of a difference. */
const placeholder = (value: unknown, changed: boolean): unknown => {
  switch (isExactNumber(value) ? 'number' : typeof value) {
    case 'string':
      return changed ? '(sensitive value, changed)' : '(sensitive value)';
    case 'number':
      return changed ? 1 : 0;
    case 'boolean':
      return changed;
    default:
      // Hides names and number of elements as well.
      return Array.isArray(value) ? [] : isObject(value) ? {} : value;
  }
};

const hidden = (value: unknown, counterpart: unknown, side: Side): unknown => {
  if (value === null || value === undefined) return value;
  const differs = !isDeepStrictEqual(value, counterpart);
  // An empty collection equals itself: a difference shows only if one side is missing.
  if (isCollection(value) && differs && side === 'before' && isCollection(counterpart)) {
    return null;
  }
  return placeholder(value, differs && side === 'after');
};

/**
 * A mask is `true` for a whole value, or has the shape of the value with `true` where it is sensitive. If the shapes
 * differ, the whole value is hidden.
 */
const blank = (value: unknown, counterpart: unknown, mask: unknown, side: Side, secrets: Secrets): unknown => {
  if (mask === true) return hidden(value, counterpart, side);
  if (Array.isArray(value) && (Array.isArray(mask) || !marksAny(mask))) {
    const marks = Array.isArray(mask) ? mask : [];
    return value.map((element, i) =>
      blank(element, Array.isArray(counterpart) ? counterpart[i] : undefined, marks[i], side, secrets),
    );
  }
  if (isObject(value) && (isObject(mask) || !marksAny(mask))) {
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        key,
        blank(one, valueAt(counterpart, key), isObject(mask) ? valueAt(mask, key) : undefined, side, secrets),
      ]),
    );
  }
  return marksAny(mask) || secrets.isIn(value) ? hidden(value, counterpart, side) : value;
};

/** A value that is sensitive on one side is hidden on both. */
const union = (a: unknown, b: unknown): unknown => {
  if (a === true || b === true) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => union(a[i], b[i]));
  }
  if (isObject(a) && isObject(b)) {
    return Object.fromEntries(
      [...new Set([...Object.keys(a), ...Object.keys(b)])].map((key) => [key, union(valueAt(a, key), valueAt(b, key))]),
    );
  }
  // The value has changed its shape.
  if (marksAny(a) && marksAny(b)) return true;
  return marksAny(a) ? a : b;
};

/** Hides sensitive values that Terraform does not mark as sensitive. */
export type Hide = <T>(value: T) => T;

const redactChange = (change: Change, secrets: Secrets, hide: Hide): Change => {
  const mask = union(change.before_sensitive, change.after_sensitive);
  const { before, after } = change;
  return {
    ...change,
    ...('before' in change ? { before: hide(blank(before, after, mask, 'before', secrets)) } : {}),
    ...('after' in change ? { after: hide(blank(after, before, mask, 'after', secrets)) } : {}),
  };
};

/**
 * Marked values can appear unmarked in computed attributes, as in `output` of a terraform_data: these are hidden too.
 */
const secretsOf = (plan: PlanJson): Secrets => {
  const secrets = new Secrets();
  const resources = [...(plan.resource_changes ?? []), ...(plan.resource_drift ?? [])];
  const deferred = (plan.deferred_changes ?? []).map(({ resource_change }) => resource_change);
  for (const change of [
    ...[...resources, ...deferred].map((resource) => resource?.change),
    ...Object.values(plan.output_changes ?? {}),
  ]) {
    secrets.add(change?.before, change?.before_sensitive);
    secrets.add(change?.after, change?.after_sensitive);
  }
  return secrets;
};

/**
 * @param hide for values that the workspace marks as sensitive, because the plan's marks cover only the
 * configuration's
 */
export const redactPlan = (plan: PlanJson, schemas: SchemasJson, hide: Hide = (value) => value): Json => {
  const secrets = secretsOf(plan);
  const redactResource = (resource: ResourceChange): ResourceChange => ({
    ...resource,
    change: redactChange(resource.change, secrets, hide),
  });
  const redactOutputs = (outputs: Record<string, Change>) =>
    Object.fromEntries(Object.entries(outputs).map(([name, change]) => [name, redactChange(change, secrets, hide)]));
  return {
    plan_format_version: plan.format_version,
    resource_changes: plan.resource_changes?.map(redactResource),
    resource_drift: plan.resource_drift?.map(redactResource),
    relevant_attributes: plan.relevant_attributes,
    output_changes: plan.output_changes && redactOutputs(plan.output_changes),
    deferred_changes: plan.deferred_changes?.map((deferred) => ({
      ...deferred,
      resource_change: deferred.resource_change && redactResource(deferred.resource_change),
    })),
    // Contains only names that are also in the changes. Not part of Terraform's format, whose readers ignore it.
    resource_dependencies: dependenciesOf(plan.configuration ?? {}),
    provider_format_version: schemas.format_version,
    provider_schemas: usedSchemas(changedTypes(plan), schemas),
  };
};
