import type { Template } from './synth.ts';

/** Merges the templates of several stacks into one: imports become references to what the exports refer to. */
export const mergeStacks = (...templates: Template[]): Template => {
  const outputs = templates.flatMap(({ Outputs = {} }) => Object.values(Outputs));
  const exported = new Map(outputs.flatMap(({ Value, Export }) => (Export ? [[Export.Name, Value] as const] : [])));
  const merge = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(merge);
    if (value === null || typeof value !== 'object') return value;
    const name = (value as { 'Fn::ImportValue'?: string })['Fn::ImportValue'];
    if (name === undefined) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, merge(inner)]));
    if (!exported.has(name)) throw new Error(`No stack exports ${name}`);
    return exported.get(name);
  };
  const own = outputsOf(templates);
  const parts = templates.map(({ Resources, Parameters }) => ({ Resources, Parameters }));
  return merge({
    Resources: Object.assign({}, ...parts.map(({ Resources }) => Resources)),
    Parameters: Object.assign({}, ...parts.map(({ Parameters }) => Parameters)),
    Outputs: own,
  }) as Template;
};

/** Outputs without an export are for operators. */
const outputsOf = (templates: Template[]): Template['Outputs'] =>
  Object.fromEntries(
    templates.flatMap(({ Outputs = {} }) => Object.entries(Outputs).filter(([, { Export }]) => !Export)),
  );
