import { type Resource, relatedIds } from '#clients/client/client.ts';
import { variableSetAttributes } from '#resources/variables/set-attributes.ts';
import { copiedFrom, type Import, mapped, nameOf, pick } from './context.ts';
import { applies } from './needs.ts';
import { part } from './source.ts';

/** Variables and variable sets. */

/** Owner of the variables, at the source and at the target. */
interface Owner {
  /** Name in item names, such as `network`. */
  name: string;
  sourcePath: string;
  targetPath: string;
  /** Path of a variable without its id, for changes; absent: `targetPath`. */
  changeAt?: string;
}

const idOf = ({ attributes }: Resource): string => `${attributes.category}/${attributes.key}`;

/** Creates a sensitive variable if its value is given. Later imports keep the value, because they cannot compare it. */
const copyVariable = async (
  { target, journal, secrets }: Import,
  { name, targetPath, changeAt }: Owner,
  variable: Resource,
  existing: Resource | undefined,
): Promise<void> => {
  const { attributes } = variable;
  const item = `variable ${name}/${idOf(variable)}`;
  const common = pick(attributes, 'key category hcl description sensitive');
  const to = { item, type: 'vars', existing, path: targetPath, changeAt: changeAt ?? targetPath };
  if (!attributes.sensitive) {
    await target.sync({ ...to, attributes: { ...common, value: attributes.value ?? '' } });
    return;
  }
  if (existing) {
    await target.sync({ ...to, attributes: pick(attributes, 'description hcl') });
    return;
  }
  const value = target.isDry ? undefined : await secrets.valueOf(item);
  if (value === undefined) journal.note(item, 'todo', 'sensitive: give its value with --secrets or --ask');
  else await target.sync({ ...to, attributes: { ...common, value } });
};

export const copyVariables = async (work: Import, owner: Owner): Promise<void> => {
  const [originals, existingVariables] = [
    await work.source.all(owner.sourcePath),
    await work.target.all(owner.targetPath),
  ];
  for (const variable of originals) {
    const existing = existingVariables.find((candidate) => idOf(candidate) === idOf(variable));
    await work.journal.attempt(`variable ${owner.name}/${idOf(variable)}`, () =>
      copyVariable(work, owner, variable, existing),
    );
  }
};

/**
 * The set's project; empty for a set of the organization, undefined if the project was not copied. Identifies the set
 * together with its name, which sets in other projects may have too.
 */
const homeOf = (set: Resource, projects: (id: string) => string | undefined): string | undefined => {
  const parent = set.relationships?.parent?.data;
  if (!parent || Array.isArray(parent) || parent.type !== 'projects') return '';
  return projects(parent.id);
};

const copySet = async (work: Import, listed: Resource, existing: Resource | undefined): Promise<void> => {
  const { source, target, into, projects, workspaces } = work;
  const original = await source.get(`/varsets/${part(listed.id)}`);
  if (!applies(work, original)) return;
  const item = `variable set ${nameOf(original)}`;
  const home = homeOf(original, (id) => projects.get(id)?.id);
  if (home === undefined) throw new Error('its project was not copied');
  const set = await target.sync({
    item,
    type: 'varsets',
    existing,
    path: `/organizations/${into}/varsets`,
    attributes: copiedFrom(original.attributes, variableSetAttributes),
    ...(home && !existing ? { relationships: { parent: { data: { type: 'projects', id: home } } } } : {}),
  });
  const path = `/varsets/${set.id}/relationships`;
  await copyVariables(work, {
    name: `set ${nameOf(original)}`,
    sourcePath: `/varsets/${part(original.id)}/relationships/vars`,
    targetPath: `${path}/vars`,
  });
  const before = existing ? await target.client.get(`/varsets/${existing.id}`) : undefined;
  const copied = new Map([...workspaces].map(([id, pair]) => [id, pair.copy]));
  for (const [kind, copies] of [
    ['workspaces', copied],
    ['projects', projects],
  ] as const) {
    const ids = mapped(relatedIds(original, kind), copies);
    await target.add(item, `${path}/${kind}`, kind, before ? relatedIds(before, kind) : [], ids);
  }
};

export const copyVariableSets = async (work: Import): Promise<void> => {
  const { source, target, journal, from, into, projects } = work;
  const existingSets = await target.all(`/organizations/${into}/varsets`);
  for (const set of await source.all(`/organizations/${from}/varsets`)) {
    const home = homeOf(set, (id) => projects.get(id)?.id);
    const existing = existingSets.find(
      (candidate) => nameOf(candidate) === nameOf(set) && homeOf(candidate, (id) => id) === home,
    );
    await journal.attempt(`variable set ${nameOf(set)}`, () => copySet(work, set, existing));
  }
};

/** Parameters of a policy set. */
export const copyParameters = async (
  work: Import,
  name: string,
  sourcePath: string,
  targetPath: string,
): Promise<void> => {
  const existingParameters = await work.target.all(targetPath);
  for (const parameter of await work.source.all(sourcePath)) {
    const key = String(parameter.attributes.key);
    const item = `parameter ${name}/${key}`;
    await work.journal.attempt(item, async () => {
      const existing = existingParameters.find(({ attributes }) => attributes.key === key);
      const { sensitive, value } = parameter.attributes;
      const secret = sensitive && !existing && !work.target.isDry ? await work.secrets.valueOf(item) : undefined;
      if (sensitive && !existing && secret === undefined) {
        work.journal.note(item, 'todo', 'sensitive: give its value with --secrets or --ask');
        return;
      }
      const attributes = sensitive ? { key, sensitive } : { key, sensitive: false, value: value ?? '' };
      const initial = sensitive ? { value: secret } : {};
      await work.target.sync({
        ...{ item, type: 'vars', existing, path: targetPath, changeAt: targetPath, attributes },
        initial: { ...initial, category: 'policy-set' },
      });
    });
  }
};
